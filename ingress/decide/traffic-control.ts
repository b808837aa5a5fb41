import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { TrafficControl } from "../../schemas/catalog/records.ts";
import { parseIpRanges } from "../../schemas/net/ip-ranges.ts";
import { SLOTS, type Slot, type SlotValues } from "../request/parameters.ts";
import type { Visit } from "../request/visit.ts";
import { derivedIndex } from "./derived-index.ts";

/** The facts that a rule looks at. */
export type Traffic = {
  readonly offerId: number;
  readonly affiliateId: number;
  readonly values: SlotValues;
  readonly visit: Visit;
};

type Rule = { readonly control: TrafficControl; readonly matches: (traffic: Traffic) => boolean };

const rulesOf = derivedIndex<TrafficControl, ReadonlyMap<number, readonly Rule[]>>(
  (catalog) => catalog.trafficControls,
  (controls) => {
    const byWorkspace = new Map<number, Rule[]>();
    for (const control of controls.toSorted((a, b) => a.id - b.id)) {
      if (control.status !== "active") continue;
      const rule = { control, matches: compileConditions(control.conditions) };
      const rules = byWorkspace.get(control.workspace_id);
      if (rules === undefined) byWorkspace.set(control.workspace_id, [rule]);
      else rules.push(rule);
    }
    return byWorkspace;
  },
);

/** The first active rule, oldest first, whose conditions the traffic meets (G146). */
export function trafficControlOf(
  catalog: Catalog,
  workspaceId: number,
  traffic: Traffic,
): TrafficControl | undefined {
  if (catalog.trafficControls.size === 0) return undefined;
  const rules = rulesOf(catalog).get(workspaceId);
  return rules?.find((rule) => rule.matches(traffic))?.control;
}

/** Every given condition must hold, by at least one of its values. A rule without conditions applies to all traffic. */
function compileConditions(conditions: TrafficControl["conditions"]): Rule["matches"] {
  const tests: Rule["matches"][] = [];
  const { affiliate_ids, offer_ids, source_ids, countries, ip_ranges, user_agent_contains } =
    conditions;
  if (isGiven(affiliate_ids)) {
    const ids = new Set(affiliate_ids);
    tests.push((traffic) => ids.has(traffic.affiliateId));
  }
  if (isGiven(offer_ids)) {
    const ids = new Set(offer_ids);
    tests.push((traffic) => ids.has(traffic.offerId));
  }
  if (isGiven(source_ids)) {
    const sources = new Set(source_ids);
    tests.push((traffic) => sources.has(traffic.values.source_id));
  }
  for (const [name, words] of Object.entries(conditions.sub ?? {}))
    tests.push(subTest(name, words));
  if (isGiven(countries)) {
    const codes = new Set(countries.map((code) => code.toUpperCase()));
    tests.push((traffic) => codes.has(traffic.visit.geo.country));
  }
  if (isGiven(ip_ranges)) {
    const ranges = parseIpRanges(ip_ranges);
    tests.push((traffic) => ranges.contains(traffic.visit.ip));
  }
  if (isGiven(user_agent_contains)) {
    const parts = user_agent_contains.map((part) => part.toLowerCase());
    tests.push((traffic) => {
      const userAgent = traffic.visit.userAgent.toLowerCase();
      return parts.some((part) => userAgent.includes(part));
    });
  }
  return (traffic) => tests.every((test) => test(traffic));
}

function subTest(name: string, words: readonly string[]): Rule["matches"] {
  const slot = SLOTS.find((known): known is Slot => known === name);
  const allowed = new Set(words);
  return (traffic) => slot !== undefined && allowed.has(traffic.values[slot]);
}

function isGiven<T>(list: readonly T[] | undefined): list is readonly T[] {
  return list !== undefined && list.length > 0;
}
