import { expect, test } from "vitest";
import { ConversionRule } from "../../../schemas/catalog/records.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { findRule, type RuleFacts } from "./conversion-rules.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);

const click = ClickRecord.parse({
  click_id: "0".repeat(32),
  ts: NOW_MS - 60_000,
  link_type: "affiliate",
  status: "redirect",
  country: "DE",
  sub1: "news",
});

const facts: RuleFacts = {
  offer: { id: 3 },
  affiliate: { id: 5 },
  eventCode: "sale",
  method: "s2s",
  saleAmount: 500_000n,
  convTsMs: NOW_MS,
  nowMs: NOW_MS,
  click,
};

function aRule(id: number, fields: Partial<ConversionRule>): ConversionRule {
  return ConversionRule.parse({
    id,
    workspace_id: 1,
    name: `rule ${id}`,
    position: 0,
    status: "active",
    action: "hold",
    conditions: {},
    ...fields,
  });
}

function applies(conditions: ConversionRule["conditions"], seen: RuleFacts = facts): boolean {
  return findRule([aRule(1, { conditions })], "hold", seen) !== undefined;
}

test.each<[ConversionRule["conditions"], boolean]>([
  [{}, true],
  [{ offer_ids: [], countries: [] }, true],
  [{ offer_ids: [1, 3] }, true],
  [{ offer_ids: [1] }, false],
  [{ affiliate_ids: [5] }, true],
  [{ affiliate_ids: [6] }, false],
  [{ event_codes: ["sale"] }, true],
  [{ event_codes: ["default"] }, false],
  [{ countries: ["de"] }, true],
  [{ countries: ["AT"] }, false],
  [{ methods: ["pixel", "s2s"] }, true],
  [{ methods: ["pixel"] }, false],
  [{ min_sale_amount: "50" }, true],
  [{ min_sale_amount: "50.0001" }, false],
  [{ max_sale_amount: "50.0000" }, true],
  [{ max_sale_amount: "49.9999" }, false],
  [{ sub: { sub1: ["news", "mail"] } }, true],
  [{ sub: { sub1: ["news"], sub2: ["x"] } }, false],
  [{ sub: { click_id: ["0".repeat(32)] } }, false],
  [{ max_seconds_since_click: 60 }, true],
  [{ max_seconds_since_click: 59 }, false],
  [{ offer_ids: [3], countries: ["AT"] }, false],
])("every condition of a rule must hold: %j (LIFE-015, G100)", (conditions, expected) => {
  expect(applies(conditions)).toBe(expected);
});

test("without a click, conditions on country and time since the click never hold (LIFE-015, G100)", () => {
  const unclicked = { ...facts, click: undefined, clickValues: { sub1: "news" } };
  expect(applies({ countries: ["DE"] }, unclicked)).toBe(false);
  expect(applies({ max_seconds_since_click: 10 }, unclicked)).toBe(false);
  expect(applies({ sub: { sub1: ["news"] } }, unclicked)).toBe(true);
  expect(applies({ affiliate_ids: [5] }, { ...unclicked, affiliate: undefined })).toBe(false);
});

test("the first matching rule with the requested action decides (LIFE-015, G100)", () => {
  const rules = [aRule(1, { action: "reject" }), aRule(2, {}), aRule(3, {})];
  expect(findRule(rules, "hold", facts)?.id).toBe(2);
  expect(findRule(rules, "reject", facts)?.id).toBe(1);
});
