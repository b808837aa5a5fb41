import { expect, test } from "vitest";
import { words } from "../../test/samples/words.ts";
import { emptyValue, findMeasure, meaningsOf, measuresOf, measureValue } from "./measures.ts";

const NAMES = words(`
  impressions clicks unique_clicks bot_clicks ctr conversions pending_conversions
  rejected_conversions cvr revenue payout profit margin epc rpc cpc avg_sale_amount
  sale_amount ad_cost roas net_profit
`);
const STAFF_ONLY = [
  "bot_clicks",
  "profit",
  "margin",
  "rpc",
  "cpc",
  "ad_cost",
  "roas",
  "net_profit",
];

const without = (...hidden: string[]): string[] => NAMES.filter((name) => !hidden.includes(name));

test.each([
  ["staff", NAMES],
  ["partner", without(...STAFF_ONLY, "revenue")],
  ["advertiser", without(...STAFF_ONLY, "payout")],
] as const)("what %s sees (G68, VIS-049, VIS-050)", (role, names) => {
  expect(measuresOf(role).map(({ name }) => name)).toEqual(names);
});

test("an advertiser's epc does not reveal the payout (G70, T30)", () => {
  expect(findMeasure("epc", "advertiser")?.sql).not.toContain("payout");
  expect(findMeasure("epc", "partner")?.sql).toContain("payout");
});

test("no meaning names a metric that the role may not see (VIS-049, VIS-050)", () => {
  for (const [role, hidden] of [
    ["partner", /revenue|profit|ad_cost|bot_clicks/],
    ["advertiser", /payout|profit|ad_cost|bot_clicks/],
  ] as const) {
    const told = meaningsOf(role).map(({ name, formula }) => `${name}: ${formula}`);
    expect(told.filter((one) => hidden.test(one))).toEqual([]);
    expect(told).toContain(`epc: ${role === "partner" ? "payout" : "revenue"} / clicks`);
  }
});

test.each([
  ["count", "12", 12],
  ["money", "125000", "12.5000"],
  ["money", "-1", "-0.0001"],
  ["ratio", "31500", 0.0315],
  ["ratio", "666667", 0.666667],
  ["ratio", null, null],
  ["money", null, null],
] as const)(
  "a %s stored as %s is %j (ENV-005, ENV-009, ENV-010, ENV-011)",
  (kind, stored, shown) => {
    expect(measureValue(kind, stored)).toBe(shown);
  },
);

test("an empty bucket has zeros, and null where it would divide (G80, T32)", () => {
  const empty = Object.fromEntries(measuresOf("staff").map((one) => [one.name, emptyValue(one)]));
  expect(empty).toMatchObject({ clicks: 0, payout: "0.0000", cvr: null, epc: null, roas: null });
});
