import type { ConversionRule } from "../../../schemas/catalog/records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { type Amount, parseAmount } from "../../../schemas/money/amount.ts";
import { clickAgeMs } from "../attribute/click-age.ts";

/** What a rule looks at. */
export type RuleFacts = {
  readonly offer: { readonly id: number };
  readonly affiliate: { readonly id: number } | undefined;
  readonly eventCode: string;
  readonly method: string;
  /** In the offer's currency. */
  readonly saleAmount: Amount;
  readonly convTsMs: number;
  /** When it is reported. */
  readonly nowMs: number;
  readonly click: ClickRecord | undefined;
  /** Sub IDs of a conversion that has no click. */
  readonly clickValues?: Readonly<Record<string, string>> | undefined;
};

const SECOND_MS = 1_000;

/** The first active rule with this action that applies; `rules` are in their order (G100). */
export function findRule(
  rules: readonly ConversionRule[],
  action: ConversionRule["action"],
  facts: RuleFacts,
): ConversionRule | undefined {
  return rules.find((rule) => rule.action === action && applies(rule.conditions, facts));
}

/** Every condition that is given must hold, each by one of its values. A rule without conditions applies to everything. */
function applies(conditions: ConversionRule["conditions"], facts: RuleFacts): boolean {
  const { offer, affiliate, click } = facts;
  return (
    holds(conditions.offer_ids, offer.id) &&
    holds(conditions.affiliate_ids, affiliate?.id) &&
    holds(conditions.event_codes, facts.eventCode) &&
    holds(conditions.methods, facts.method) &&
    holds(upperCase(conditions.countries), click?.country.toUpperCase()) &&
    Object.entries(conditions.sub ?? {}).every(([name, values]) =>
      holds(values, subOf(facts, name)),
    ) &&
    isSaleWithin(conditions, facts.saleAmount) &&
    isSoonEnough(conditions.max_seconds_since_click, facts)
  );
}

function holds<T>(wanted: readonly T[] | undefined, value: T | undefined): boolean {
  if (wanted === undefined || wanted.length === 0) return true;
  return value !== undefined && wanted.includes(value);
}

function upperCase(words: readonly string[] | undefined): readonly string[] | undefined {
  return words?.map((word) => word.toUpperCase());
}

function subOf({ click, clickValues }: RuleFacts, name: string): string {
  const values: Readonly<Record<string, unknown>> = click ?? clickValues ?? {};
  const value = /^sub(?:[1-9]|10)$/.test(name) ? values[name] : undefined;
  return typeof value === "string" ? value : "";
}

function isSaleWithin(
  { min_sale_amount, max_sale_amount }: ConversionRule["conditions"],
  sale: Amount,
): boolean {
  const min = parseAmount(min_sale_amount ?? "");
  const max = parseAmount(max_sale_amount ?? "");
  return (min === undefined || sale >= min) && (max === undefined || sale <= max);
}

/** A conversion without a click came from no click, however long ago. */
function isSoonEnough(maxSeconds: number | undefined, facts: RuleFacts): boolean {
  if (maxSeconds === undefined) return true;
  const ageMs = clickAgeMs(facts);
  return ageMs !== undefined && ageMs <= maxSeconds * SECOND_MS;
}
