import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, headerOf } from "./click-answer.ts";
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
