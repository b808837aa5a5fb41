import { expect, test } from "vitest";
import { nameRows } from "./compare-rows.ts";
import type { Entry } from "./ledger.ts";
import type { Recounted } from "./recount-day.ts";
import { ShopRecount } from "./recount-shop.ts";
import { planShops } from "./shop.ts";

const [PLAN] = planShops(10);
if (PLAN === undefined) throw new Error("the day has no shops");
const SHOP = { ...PLAN, id: 7, code: "DAY0", coupon: "COUPON0" };
const PARTNERS = [{ id: 1, code: "DEMOANNA", isThrottled: false }];
const TXID = "d0-1";

/** A report of one order with this amount, and the answer to its last attempt. */
function report(number: number, amount: string, answer: object, lost = 0): Entry {
  const params = { event: "multi", aff_id: "DEMOANNA", txid: TXID, amount };
  return {
    number,
    shop: 0,
    lost,
    sentAtMs: number * 100,
    answeredAtMs: number * 100 + 50,
    action: { kind: "report", by: "workspace", params, isListed: false },
    answer: { http: 200, body: { ok: true, status: "approved", ...answer } },
  };
}

test("a repeat left by an unanswered attempt has the money of its own report (#25)", () => {
  const recount = new ShopRecount(SHOP, 0, { partners: PARTNERS, clicks: new Map() });
  const first = report(1, "2.4301", { conversion_id: "a", reason: "" }, 1);
  const change = report(2, "671.0574", { updated: true, reason: "postback_reversal" });
  expect([recount.take(first), recount.take(change)]).toEqual([undefined, undefined]);
  const day: Recounted = {
    shops: [SHOP],
    partners: PARTNERS,
    advertisers: { own: 1, other: 2, listed: 3 },
    clicks: [],
    entries: [first, change],
    rows: [...recount.rows],
    differences: [],
    dayOf: new Map(),
  };
  const stored = {
    id: "b",
    click_id: "",
    offer_id: SHOP.id,
    event_code: "multi",
    adv_txid: TXID,
    status: "rejected",
    status_reason: "duplicate",
    is_duplicate: true,
    sale_amount: "2.4301",
    currency: "USD",
    method: "s2s",
    conv_ts: new Date(first.sentAtMs).toISOString(),
  };
  nameRows(day, [stored]);
  expect(day.rows.map(({ id, sale, isDuplicate }) => [id, sale, isDuplicate])).toEqual([
    ["a", 6_710_574n, false],
    ["b", 24_301n, true],
  ]);
});
