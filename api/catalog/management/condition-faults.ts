import { z } from "zod";
import { referenceFaults } from "../../access/references.ts";
import type { FieldFaults, OperationContext } from "../../operation/operation.ts";

const REFERENCES = { offer_ids: "offer", affiliate_ids: "affiliate" } as const;

/**
 * Faults of the conditions of a control or a rule that their schema cannot find: unknown records, and an empty set of conditions,
 * which would apply to all traffic of the workspace.
 */
export async function conditionFaults(
  context: OperationContext,
  conditions: unknown,
): Promise<FieldFaults> {
  const parsed = z.looseObject({}).safeParse(conditions);
  if (!parsed.success) return {};
  if (Object.values(parsed.data).every(isEmptyCondition))
    return { conditions: "expected at least one condition" };
  const faults = await referenceFaults(context, parsed.data, REFERENCES);
  return Object.fromEntries(
    Object.entries(faults).map(([field, message]) => [`conditions.${field}`, message]),
  );
}

function isEmptyCondition(condition: unknown): boolean {
  if (Array.isArray(condition)) return condition.length === 0;
  return typeof condition === "object" && condition !== null
    ? Object.values(condition).every(isEmptyCondition)
    : condition === undefined;
}
