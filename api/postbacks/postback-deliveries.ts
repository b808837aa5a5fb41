import type { Queryable } from "../../schemas/postgres/connect.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "../deliveries/deliveries.ts";

/** A delivery of a postback that still exists. */
export async function findPostbackDelivery(
  db: Queryable,
  workspaceId: number,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "find-postback-delivery",
    text: `select ${DELIVERY_COLUMNS} from delivery d join postback p on p.id = d.endpoint_id
           where d.id = $2 and d.workspace_id = $1 and d.kind = 'postback'`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/**
 * Makes a delivery that has not arrived due now, with all its attempts before it. Undefined when it has arrived meanwhile,
 * or while an attempt is under way: its worker holds the lease, and what it records counts.
 */
export async function restartDelivery(db: Queryable, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "restart-delivery",
    text: `update delivery d
           set status = 'pending', attempts = 0, due_at = clock_timestamp(), lease_token = null, error = '',
             finished_at = null
           where d.id = $1 and d.status <> 'delivered' and (d.lease_token is null or d.due_at <= clock_timestamp())
           returning ${DELIVERY_COLUMNS}`,
    values: [id],
  });
  return rows[0];
}
