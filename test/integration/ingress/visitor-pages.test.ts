import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf, headerOf } from "./click-answer.ts";
import { ClickPathsWorld } from "./click-paths-world.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const REFUSED = `url=${encodeURIComponent("https://elsewhere.example/")}`;
const BROKEN_LINKS = [
  ["/r/SHPO/PART01", 404, "unknown_link"],
  ["/r/SHOP/NOBODY", 404, "unknown_link"],
  ["/s/NOTHING", 404, "unknown_link"],
  ["/click?oid=SHPO&aid=PART01", 404, "unknown_link"],
  ["/c/no-key", 404, "unknown_link"],
  ["/c/SHOP-PART01", 400, "missing_url"],
  [`/r/SHOP/PART01?${REFUSED}`, 403, "not_allowed"],
  ["/rr/SHOP/PART01", 404, "not_found"],
  ["/r/SHOP", 404, "not_found"],
] as const;

const world = await forThisFile(ClickPathsWorld.open());
const tenant = await world.addTenant("main");
await world.addOffer(tenant, "SHOP", {
  destination_url: "https://shop.example/",
  allowed_domains: ["shop.example"],
});

async function ask(path: string, accept?: string): Promise<Answer> {
  const headers = accept === undefined ? {} : { accept };
  return await world.ask(path, { headers });
}

test.each(BROKEN_LINKS)(
  "%s is a neutral page with status %i in a browser, and JSON for every other client",
  async (path, status, error) => {
    await world.untilCurrent();
    const page = await ask(path, BROWSER);
    expect(page.status).toBe(status);
    expect(headerOf(page, "content-type")).toBe("text/html; charset=utf-8");
    expect(headerOf(page, "cache-control")).toBe("no-store");
    expect(page.body).toContain("This link is not available.");
    expect(page.body).not.toContain(error);
    for (const accept of [undefined, "*/*", "application/json", "application/json, text/html"]) {
      const data = await ask(path, accept);
      expect([accept, data.status, data.body]).toEqual([accept, status, JSON.stringify({ error })]);
      expect(headerOf(data, "content-type")).toBe("application/json; charset=utf-8");
    }
  },
);

test("the bare host says that it serves links, and neither whose it is nor with what", async () => {
  const page = await ask("/", BROWSER);
  const data = await ask("/");
  expect([page.status, data.status]).toEqual([200, 200]);
  expect(page.body).toContain("This address serves links.");
  expect(JSON.parse(data.body)).toEqual({ message: "this address serves links" });
  for (const answer of [page, data]) {
    expect(JSON.stringify(answer)).not.toMatch(/tracker|affiliate|uwebsockets|main/i);
    expect(headerOf(answer, "x-robots-tag")).toBe("noindex");
  }
  expect((await world.ask("/", { method: "POST" })).status).toBe(405);
});

test("a good link redirects a browser as every other client", async () => {
  expect((await ask("/r/SHOP/PART01", BROWSER)).status).toBe(302);
});

test("/robots.txt keeps search engines from links, and lets previews of posts be made (G243)", async () => {
  const answer = await ask("/robots.txt");
  expect([answer.status, headerOf(answer, "content-type")]).toEqual([
    200,
    "text/plain; charset=utf-8",
  ]);
  expect(answer.body).toMatch(/User-agent: \*\nDisallow: \/\n$/);
  expect(answer.body).toMatch(/User-agent: Twitterbot\n[^*]*Allow: \/\n/);
});

describe("paths that text or a program changed (G241)", () => {
  test.each([
    "//r/SHOP/PART01?sub1=x",
    "/R/SHOP/PART01?sub1=x",
    "/r/SHOP/PART01/?sub1=x",
    "/r/SHOP/PART01/&sub1=x",
    "/r/SHOP/PART01/&amp;sub1=x",
    "/r/SHOP/PART01&sub1=x",
    "/r//SHOP//PART01/)?sub1=x",
    "/r/SHOP/PART01%E2%80%8B?sub1=x",
    "/CLICK/?oid=SHOP&amp;aid=PART01&amp;sub1=x",
    "//click&oid=SHOP&aid=PART01&sub1=x",
  ])("%s is the click of its link", async (target) => {
    for (const method of ["GET", "HEAD", "POST"]) {
      const answer = await world.ask(target, { method });
      expect([answer.status, headerOf(answer, "location")]).toEqual([302, "https://shop.example/"]);
      expect(await world.clickOf(answer, tenant)).toMatchObject({
        sub1: "x",
        link_type: "affiliate",
        is_bot: method === "HEAD",
      });
    }
    expect((await world.ask(target, { method: "PUT" })).status).toBe(405);
  });

  test.each([
    ["GET", (query: string) => `/pb/?${query}`],
    ["GET", (query: string) => `//pb&${query}`],
    ["GET", (query: string) => `/POSTBACK/?${query}`],
    ["POST", () => "/pb/"],
  ])("%s of a changed /pb records the conversion", async (method, target) => {
    const clickId = clickIdOf(await ask("/r/SHOP/PART01"));
    const query = `token=${tenant.postbackToken}&click_id=${clickId}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const sent = method === "POST" ? { method, body: query, headers } : { method };
    const answer = await world.ask(target(query), sent);
    expect(JSON.parse(answer.body)).toMatchObject({ ok: true, status: "approved" });
    const { conversions } = await world.detailOf(await ask("/r/SHOP/PART01"), tenant);
    expect(conversions).toEqual([]);
  });

  test("/lp/ and /px.gif/ answer as without the slash", async () => {
    const body = JSON.stringify({ offer: "SHOP", url: "https://shop.example/" });
    expect((await world.ask("/lp/", { method: "POST", body })).body).toContain("direct");
    expect(headerOf(await ask("/px.gif/?click_id=x"), "x-tracker-conversion")).toMatch(/^error: /);
  });

  test("what leads nowhere is in the inbound log, without the values of a visitor (G242, P31)", async () => {
    const Log = z.object({
      data: z.array(
        z.object({
          endpoint: z.string(),
          result: z.string(),
          http_status: z.int(),
          params: z.record(z.string(), z.string()),
        }),
      ),
    });
    const host = "trk.visitor.example";
    await world.store.insert("tracking_domain", { workspace_id: tenant.id, host });
    await world.untilCurrent();
    for (const target of [
      "/r/SHPO/LOST01?sub1=person@example.com",
      "/click?oid=LOST02&aid=PART01&sub1=person@example.com",
      "/r/LOST03",
      "/postbak?click_id=LOST04",
      "/wp-login.php?LOST05=1",
    ])
      await world.ask(target, { host });
    const rows = async (): Promise<unknown[]> => {
      const answer = await world.rest("/postback-log?limit=200", tenant.adminKey);
      return Log.parse(answer).data.filter((row) => JSON.stringify(row).includes("LOST"));
    };
    await expect.poll(rows, { timeout: 10_000 }).toHaveLength(4);
    const link = { endpoint: "link", result: "unknown_link", http_status: 404 };
    const path = { endpoint: "path", result: "unknown_path", http_status: 404 };
    expect(new Set(await rows())).toEqual(
      new Set([
        { ...link, params: { path: "/r/SHPO/LOST01" } },
        { ...link, params: { path: "/click", oid: "LOST02", aid: "PART01" } },
        { ...path, params: { path: "/r/LOST03" } },
        { ...path, params: { path: "/postbak", click_id: "LOST04" } },
      ]),
    );
  });
});
