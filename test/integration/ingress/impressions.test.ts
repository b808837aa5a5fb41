import { expect, test } from "vitest";
import { z } from "zod";
import { FIREFOX } from "../../samples/user-agents.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { headerOf } from "./click-answer.ts";
import { AMERICAN_IP, ClickPathsWorld, PARTNER } from "./click-paths-world.ts";

const Report = z.object({ data: z.array(z.record(z.string(), z.unknown())) });
const Clicks = z.object({ data: z.array(z.unknown()) });
const GIF_BYTES_MIN = 35;
/** A report is at most 5 s behind (P13). */
const BEHIND_MS_MAX = 5_000;

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main");
const shopId = await world.addOffer(main, "SHOP");
const otherId = await world.addOffer(main, "OTHER");
await world.untilCurrent();

async function counted(query: string): Promise<Record<string, unknown>[]> {
  const path = `/reports?preset=today&metrics=impressions,clicks&${query}`;
  return Report.parse(await world.rest(path, main.adminKey)).data;
}

test("GET and HEAD answer a GIF of one pixel that may not be cached (IMP-001)", async () => {
  for (const method of ["GET", "HEAD"]) {
    const answer = await world.ask(`/i/SHOP/${PARTNER}?sub1=seen-${method}`, { method });
    expect(answer.status).toBe(200);
    expect(headerOf(answer, "content-type")).toBe("image/gif");
    expect(headerOf(answer, "cache-control")).toBe("no-store");
    if (method === "HEAD") continue;
    const gif = Buffer.from(answer.body, "latin1");
    expect(answer.body.slice(0, 6)).toBe("GIF89a");
    expect(gif.length).toBeGreaterThanOrEqual(GIF_BYTES_MIN);
    // Width and height, little-endian.
    expect([gif.readUInt16LE(6), gif.readUInt16LE(8)]).toEqual([1, 1]);
  }
});

test("other methods are refused (IMP-001, G157)", async () => {
  const answer = await world.ask(`/i/SHOP/${PARTNER}`, { method: "POST" });
  expect(answer.status).toBe(405);
});

test("each counts once for its offer and partner; an unknown link only gets the GIF (IMP-002, IMP-003)", async () => {
  const visitor = { ip: AMERICAN_IP, userAgent: FIREFOX };
  const query = "sub1=counted&cid=banner&utm_source=mail&kw=red%20shoes";
  for (let i = 0; i < 5; i += 1) await world.ask(`/i/SHOP/${PARTNER}?${query}`, visitor);
  await world.ask(`/i/OTHER/${PARTNER}?${query}`, visitor);
  for (const unknown of ["/i/none/PART01", "/i/SHOP/none", "/i/0/0"]) {
    const answer = await world.ask(`${unknown}?${query}`, visitor);
    expect([unknown, answer.status, headerOf(answer, "content-type")]).toEqual([
      unknown,
      200,
      "image/gif",
    ]);
    expect(answer.body.slice(0, 6)).toBe("GIF89a");
  }
  // Impressions are stored in order: once this last one is counted, so are the others.
  await world.ask(`/i/SHOP/${PARTNER}?sub1=after`, visitor);
  await until(
    "the last one is counted",
    async () => (await counted("group_by=offer&filters=sub1:in:after")).length > 0,
    {
      timeoutMs: BEHIND_MS_MAX,
      pollMs: 50,
    },
  );
  const rows = await counted(
    "group_by=offer,affiliate,country&filters=sub1:in:counted&sort=-impressions",
  );
  expect(rows).toMatchObject([
    { offer: shopId, affiliate: main.affiliateId, country: "US", impressions: 5, clicks: 0 },
    { offer: otherId, affiliate: main.affiliateId, country: "US", impressions: 1, clicks: 0 },
  ]);
  expect(
    await counted("group_by=traffic_source,ext_keyword&filters=sub1:in:counted"),
  ).toMatchObject([{ traffic_source: "mail", ext_keyword: "red shoes", impressions: 6 }]);
});

test("an impression has no click id, cookie or redirect, and is no click (IMP-004)", async () => {
  const answer = await world.ask(`/i/SHOP/${PARTNER}?sub1=no-click`);
  for (const name of ["location", "set-cookie"]) expect(headerOf(answer, name), name).toBe("");
  expect(answer.headers.map(([, value]) => value).join(" ")).not.toMatch(/[0-9a-f]{32}/);
  await world.untilListed(main);
  const { data } = Clicks.parse(await world.rest("/clicks?sub1=no-click", main.adminKey));
  expect(data).toEqual([]);
});
