import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { clickIdOf } from "../ingress/click-answer.ts";
import { type Asking, ClickPathsWorld, PARTNER } from "../ingress/click-paths-world.ts";

const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";

/** A check, its requirement, and a visitor that it rejects. */
const CHECKS: readonly (readonly [check: string, id: string, visitor: Asking])[] = [
  [
    "bot",
    "LIFE-023",
    { userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
  ],
  ["datacenter", "LIFE-024", { ip: "52.95.110.1" }],
  ["proxy_hint", "LIFE-025", { headers: { via: "1.1 proxy.example" } }],
  ["headless", "LIFE-026", { userAgent: `${CHROME} HeadlessChrome/126.0.0.0 Safari/537.36` }],
  ["missing_ua", "LIFE-027", { userAgent: "" }],
];

const world = await forThisFile(ClickPathsWorld.open());
const shop = await world.addTenant("shop");
await world.addOffer(shop, "LOOSE");
for (const [check] of CHECKS)
  await world.addOffer(shop, strictCode(check), { fraud_checks: { [check]: true } });
await world.untilCurrent();

function strictCode(check: string): string {
  return `STRICT-${check}`;
}

/** Status and reason of the conversion of a visit. */
async function convert(offer: string, visitor: Asking): Promise<unknown> {
  const click = clickIdOf(await world.ask(`/r/${offer}/${PARTNER}`, visitor));
  const { status, reason = "" } = await world.report(`click_id=${click}`, shop);
  return [status, reason];
}

test.each(CHECKS)(
  "the check %s rejects only such visitors, and is off by default (G101, %s)",
  async (check, _id, visitor) => {
    const offer = strictCode(check);
    expect(await convert(offer, visitor)).toEqual(["rejected", `fraud:${check}`]);
    expect(await convert(offer, {})).toEqual(["approved", ""]);
    expect(await convert("LOOSE", visitor)).toEqual(["approved", ""]);
  },
);
