import { readBillingState } from "../../schemas/billing/billing-state.ts";
import type { OperationContext } from "../operation/operation.ts";

/** Of `open`, what is listed now: while billing is off, nothing that is about statements and payouts. */
export async function listedNow<Entry extends { readonly needsBilling?: true }>(
  { db, workspace }: OperationContext,
  open: readonly Entry[],
): Promise<readonly Entry[]> {
  const isAlways = ({ needsBilling }: Entry): boolean => needsBilling !== true;
  if (open.every(isAlways)) return open;
  const state = await readBillingState(db, workspace.id);
  return state?.enabled === true ? open : open.filter(isAlways);
}
