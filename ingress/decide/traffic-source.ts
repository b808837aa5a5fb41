import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { TrafficSourceTemplate } from "../../schemas/catalog/records.ts";
import { SLOTS, type Slot, type SlotValues } from "../request/parameters.ts";
import { derivedIndex } from "./derived-index.ts";

/** The literal values that a template forces, by parameter. */
type Forced = readonly (readonly [slot: Slot, value: string])[];

const forcedOf = derivedIndex<TrafficSourceTemplate, ReadonlyMap<number, readonly Forced[]>>(
  (catalog) => catalog.sourceTemplates,
  (templates) => {
    const byAffiliate = new Map<number, Forced[]>();
    for (const template of templates) {
      const forced = compile(template);
      for (const affiliateId of template.affiliate_ids) {
        byAffiliate.set(affiliateId, [...(byAffiliate.get(affiliateId) ?? []), forced]);
      }
    }
    return byAffiliate;
  },
);

/**
 * Whether a click contradicts the templates forced on its partner: a parameter differs from a literal value of the template. A missing
 * parameter contradicts nothing, and a macro of the template accepts any value (G181). With several templates, a click must agree with one
 * of them.
 */
export function contradictsForcedSource(
  catalog: Catalog,
  affiliateId: number,
  values: SlotValues,
): boolean {
  if (catalog.sourceTemplates.size === 0) return false;
  const templates = forcedOf(catalog).get(affiliateId);
  return templates !== undefined && !templates.some((forced) => agrees(forced, values));
}

function agrees(forced: Forced, values: SlotValues): boolean {
  return forced.every(([slot, value]) => values[slot] === "" || values[slot] === value);
}

function compile(template: TrafficSourceTemplate): Forced {
  const params = { ...template.params, source_id: template.source_id };
  return Object.entries(params).flatMap(([name, value]) => {
    const slot = SLOTS.find((known) => known === name);
    return slot === undefined || value === "" || value.includes("{")
      ? []
      : [[slot, value] as const];
  });
}
