import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

/** What came of telling one postback of one conversion. */
export type DeliveryRow = {
  readonly id: string;
  readonly postback_id: number;
  readonly conversion_id: string;
  readonly trigger: string;
  readonly url: string;
  readonly attempts: number;
  readonly status: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
  /** Null when none is to come, and while one is under way. */
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
};

const COLUMNS = `d.id, d.endpoint_id as postback_id, d.conversion_id, d.trigger, d.url, d.attempts, d.status, d.error,
  d.response_status, d.response_body, case when d.lease_token is null then d.due_at end as next_attempt_at, d.created_at,
  d.finished_at`;

/** The newest first. Whether the key may see the postback is asked before. */
export async function listDeliveriesOfPostback(
  db: Queryable,
  postbackId: number,
  filters: { readonly status: string | undefined },
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    ...keptPlan("list-postback-deliveries", filters),
    text: `select ${COLUMNS} from delivery d
           where d.kind = 'postback' and d.endpoint_id = $1 and (d.created_at, d.id) < ($2::timestamptz, $3::uuid)
             and ($4::text is null or d.status = $4)
           order by d.created_at desc, d.id desc limit $5`,
    values: [
      postbackId,
      page.after?.at ?? "infinity",
      page.after?.id ?? "ffffffff-ffff-ffff-ffff-ffffffffffff",
      filters.status,
      page.rowsMax,
    ],
  });
  return rows;
}

/** A delivery of a postback that still exists. */
export async function findPostbackDelivery(
  db: Queryable,
  workspaceId: number,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "find-postback-delivery",
    text: `select ${COLUMNS} from delivery d join postback p on p.id = d.endpoint_id
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
           returning ${COLUMNS}`,
    values: [id],
  });
  return rows[0];
}
