import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { clickIdOf, headerOf } from "./click-answer.ts";
import { ClickPathsWorld, PARTNER } from "./click-paths-world.ts";

const LOOKUPS = 5;

const world = await forThisFile(
  ClickPathsWorld.open({ env: { IP_LOOKUPS_PER_MINUTE: String(LOOKUPS) } }),
);
const shop = await world.addTenant("shop");
await world.addOffer(shop, "SHOP");
await world.untilCurrent();

async function pixel(gclid: string, ip: string): Promise<string> {
  const answer = await world.ask(`/px?gclid=${gclid}`, { ip });
  expect(answer.status).toBe(200);
  return headerOf(answer, "x-tracker-conversion");
}

test("only pixels of one address that find no click are limited (#16)", async () => {
  const stranger = "198.51.100.7";
  for (let times = 0; times < LOOKUPS; times += 1)
    expect(await pixel(`made-up-${times}`, stranger)).toMatch(/^error: /);
  expect(await pixel("made-up", stranger)).toBe("error: rate_limited");
  const page = { method: "POST", body: JSON.stringify({ gclid: "made-up", offer: "SHOP" }) };
  const landing = await world.ask("/lp", { ...page, ip: stranger });
  expect([landing.status, landing.body]).toEqual([429, '{"error":"rate_limited"}']);
  expect(headerOf(landing, "access-control-allow-origin")).toBe("*");
  expect(Number(headerOf(landing, "retry-after"))).toBeGreaterThan(0);
  // Other addresses, and reports that need no search, are served.
  expect(await pixel("made-up", "198.51.100.8")).not.toBe("error: rate_limited");
  const click_id = clickIdOf(await world.ask(`/r/SHOP/${PARTNER}`));
  const report = await world.ask(`/px?click_id=${click_id}`, { ip: stranger });
  expect(headerOf(report, "x-tracker-conversion")).toBe("approved");
  const postback = `/pb?token=${shop.postbackToken}&click_id=${click_id}&status=approved`;
  expect((await world.ask(postback, { ip: stranger })).status).toBe(200);
});

test("lookups that find a click are not limited, however many visitors share an address (#16)", async () => {
  const office = "198.51.100.9";
  for (let visitor = 0; visitor < 2 * LOOKUPS; visitor += 1) {
    const gclid = `visitor-${visitor}`;
    await world.ask(`/r/SHOP/${PARTNER}?gclid=${gclid}`);
    expect(await pixel(gclid, office)).toBe("approved");
  }
});
