import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "../deliveries/deliveries.ts";
import type { DeliveredPostback } from "./delivery-for-partner.ts";
import { isPostbackOfPartner } from "./postbacks.ts";

export type FoundDelivery = {
  readonly delivery: DeliveryRow;
  readonly postback: DeliveredPostback;
};

type Found = DeliveryRow & {
  readonly template_url: string;
  readonly template_body: string;
  readonly created_by_affiliate: boolean;
  readonly changed_at: string;
};

/** A delivery whose postback still exists. */
export async function findPostbackDelivery(
  db: Queryable,
  workspaceId: number,
  id: string,
): Promise<FoundDelivery | undefined> {
  const { rows } = await db.query<Found>({
    name: "find-postback-delivery",
    text: `select ${DELIVERY_COLUMNS}, p.url as template_url, p.body as template_body, p.created_by_affiliate,
             p.updated_at as changed_at
           from delivery d join postback p on p.id = d.endpoint_id
           where d.id = $2 and d.workspace_id = $1 and d.kind = 'postback'`,
    values: [workspaceId, id],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { template_url, template_body, created_by_affiliate, changed_at, ...delivery } = row;
  return {
    delivery,
    postback: {
      url: template_url,
      body: template_body,
      created_by_affiliate,
      updated_at: changed_at,
    },
  };
}

/** Whether a delivery belongs to the partner's own postback and to a conversion of the partner that it sees. */
export async function isDeliveryOfPartner(
  db: Queryable,
  affiliateId: number,
  { postback_id, conversion_id }: DeliveryRow,
): Promise<boolean> {
  if (!(await isPostbackOfPartner(db, affiliateId, postback_id))) return false;
  const { rows } = await db.query<{ found: boolean }>({
    name: "is-conversion-of-partner",
    text: `select exists (select from conversion c
             where c.id = $1 and c.affiliate_id = $2 and not c.is_private) as found`,
    values: [conversion_id, affiliateId],
  });
  return rows[0]?.found === true;
}

/**
 * Makes an undelivered delivery due now and allows it all attempts again. Undefined when it has been delivered in the meantime, or
 * while an attempt is under way: then the worker holds the lease, and its result counts.
 */
export async function restartDelivery(
  db: Queryable,
  id: string,
  requestId: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "restart-delivery",
    text: `update delivery d
           set status = 'pending', attempts_before = d.attempts_before + d.attempts, attempts = 0, due_at = clock_timestamp(),
             lease_token = null, error = '', finished_at = null, request_id = $2, traceparent = null
           where d.id = $1 and d.status <> 'delivered' and (d.lease_token is null or d.due_at <= clock_timestamp())
           returning ${DELIVERY_COLUMNS}`,
    values: [id, requestId],
  });
  return rows[0];
}
