import type { ConversionRule } from "../../../schemas/catalog/records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { type Amount, parseAmount } from "../../../schemas/money/amount.ts";
import { clickAgeMs } from "../attribute/click-age.ts";

/** The facts that rules are matched against. */
export type RuleFacts = {
  readonly offer: { readonly id: number };
  readonly affiliate: { readonly id: number } | undefined;
  readonly eventCode: string;
  readonly method: string;
  /** In the offer's currency. */
  readonly saleAmount: Amount;
  readonly convTsMs: number;
  /** When the conversion is reported. */
  readonly nowMs: number;
  readonly click: ClickRecord | undefined;
  /** Sub IDs of a conversion without a click. */
  readonly clickValues?: Readonly<Record<string, string>> | undefined;
};

const SECOND_MS = 1_000;

/** The first active rule with this action that applies; `rules` are in order (G100). */
export function findRule(
  rules: readonly ConversionRule[],
  action: ConversionRule["action"],
  facts: RuleFacts,
): ConversionRule | undefined {
  return rules.find((rule) => rule.action === action && applies(rule.conditions, facts));
}

/**
 * Every condition of the rule must hold; a condition with several values holds if one of them matches. A rule without conditions always
 * applies.
 */
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

function holds<T>(allowed: readonly T[] | undefined, value: T | undefined): boolean {
  if (allowed === undefined || allowed.length === 0) return true;
  return value !== undefined && allowed.includes(value);
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

/** Without a click there is no time since the click, so the condition does not hold. */
function isSoonEnough(maxSeconds: number | undefined, facts: RuleFacts): boolean {
  if (maxSeconds === undefined) return true;
  const ageMs = clickAgeMs(facts);
  return ageMs !== undefined && ageMs <= maxSeconds * SECOND_MS;
}
