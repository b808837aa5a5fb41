import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { Body } from "../../records/managed-resource.ts";
import { queueEvent } from "../../records/queue-event.ts";

/** Whether a change of a partner's record changes how it is paid. */
export function changesPayment({
  before,
  after,
}: {
  readonly before: Body;
  readonly after: Body;
}): boolean {
  return (
    before["payment_method"] !== after["payment_method"] ||
    !isDeepStrictEqual(before["payment_details"], after["payment_details"])
  );
}

/**
 * Notes who changed how a partner is paid, from where and when, and tells the webhooks: payouts wait after it (N32). What was entered and
 * sealed before no longer counts.
 */
export async function notePaymentChange(
  tx: Queryable,
  context: OperationContext,
  affiliate: Body,
): Promise<void> {
  const { principal, workspace, clientIp } = context;
  const { actor } = principal;
  await tx.query({
    name: "forget-payment-account",
    text: "delete from payment_account where affiliate_id = $1::integer",
    values: [affiliate["id"]],
  });
  const { rows } = await tx.query<{ at: string }>({
    name: "note-payment-change",
    text: `insert into payment_method_change (workspace_id, affiliate_id, key_id, person_id, address)
           values ($1, $2::integer, $3, $4, nullif($5, '')::inet) returning at`,
    values: [
      workspace.id,
      affiliate["id"],
      actor.kind === "key" ? actor.id : null,
      actor.kind === "person" ? actor.id : null,
      clientIp,
    ],
  });
  await queueEvent(tx, context, "affiliate.payment_method_changed", () => ({
    data: {
      affiliate_id: affiliate["id"],
      affiliate_code: affiliate["code"],
      affiliate_name: affiliate["name"],
      payment_method: affiliate["payment_method"],
      changed_by: principal.role === "partner" ? "partner" : "staff",
      changed_at: rows[0]?.at,
    },
  }));
}
