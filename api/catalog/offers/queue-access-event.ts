import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { showTo } from "../../access/visibility.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { queueEvent } from "../../records/queue-event.ts";

export type AccessRow = {
  affiliate_id: number;
  affiliate_code: string;
  affiliate_name: string;
  status: string;
  note: string;
  requested_at: string | null;
  decided_at: string | null;
};

type NamedOffer = { readonly id: number; readonly code: string; readonly name: string };

/**
 * Queues a webhook event: a pending record is a request, any other status is a decision (G129). The document shows the record as an
 * admin sees it, whoever caused the change.
 */
export async function queueAccessEvent(
  tx: Queryable,
  context: OperationContext,
  { offer, access }: { readonly offer: NamedOffer; readonly access: AccessRow },
): Promise<void> {
  const event = access.status === "pending" ? "access.requested" : "access.decided";
  await queueEvent(tx, context, event, () => ({
    data: {
      ...showTo("admin", "partner_access", access),
      offer_id: offer.id,
      offer_code: offer.code,
      offer_name: offer.name,
    },
  }));
}
