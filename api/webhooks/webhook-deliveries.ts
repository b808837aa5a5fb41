import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** What came of telling one webhook of one event. */
export type WebhookDeliveryRow = {
  readonly id: string;
  readonly webhook_id: number;
  readonly event: string;
  readonly event_id: string;
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

const COLUMNS = `d.id, d.endpoint_id as webhook_id, d.event, d.event_id, d.url, d.attempts, d.status, d.error,
  d.response_status, d.response_body, case when d.lease_token is null then d.due_at end as next_attempt_at, d.created_at,
  d.finished_at`;

/** The newest first. Whether the key may see the webhook is asked before. */
export async function listDeliveriesOfWebhook(
  db: Queryable,
  webhookId: number,
  filters: { readonly status: string | undefined },
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<WebhookDeliveryRow[]> {
  const { rows } = await db.query<WebhookDeliveryRow>({
    ...keptPlan("list-webhook-deliveries", filters),
    text: `select ${COLUMNS} from delivery d
           where d.kind = 'webhook' and d.endpoint_id = $1 and (d.created_at, d.id) < ($2::timestamptz, $3::uuid)
             and ($4::text is null or d.status = $4)
           order by d.created_at desc, d.id desc limit $5`,
    values: [
      webhookId,
      page.after?.at ?? "infinity",
      page.after?.id ?? "ffffffff-ffff-ffff-ffff-ffffffffffff",
      filters.status,
      page.rowsMax,
    ],
  });
  return rows;
}

/**
 * Queues the document of a delivery once more, as a delivery of its own to where its webhook leads now (G130). Undefined when
 * there is no such delivery, or its webhook is gone.
 */
export async function repeatDelivery(
  db: Queryable,
  workspaceId: number,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  const { rows } = await db.query<WebhookDeliveryRow>({
    name: "repeat-webhook-delivery",
    text: `insert into delivery as d (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts)
           select o.workspace_id, o.kind, o.endpoint_id, w.destination, o.conversion_id, o.event, o.event_id,
             o.facts || '{"is_ordered": true}'
           from delivery o join webhook w on w.id = o.endpoint_id
           where o.id = $2 and o.workspace_id = $1 and o.kind = 'webhook'
           returning ${COLUMNS}`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/** Queues a document with sample data for one webhook, whatever it subscribed to. */
export async function queueTest(
  db: Queryable,
  { workspaceId, webhookId }: { readonly workspaceId: number; readonly webhookId: number },
  event: WebhookEvent,
  sample: { readonly data: unknown; readonly previous?: unknown },
): Promise<WebhookDeliveryRow | undefined> {
  const { data, ...more } = sample;
  const { rows } = await db.query<WebhookDeliveryRow>({
    name: "queue-webhook-test",
    text: `with told as (select gen_random_uuid() as id)
           insert into delivery as d (workspace_id, kind, endpoint_id, destination, event, event_id, facts)
           select w.workspace_id, 'webhook', w.id, w.destination, $3::text, t.id,
             jsonb_build_object('body', event_document(t.id, $1, $3::text, $4::json, $5::jsonb), 'is_ordered', true)
           from webhook w cross join told t where w.workspace_id = $1 and w.id = $2
           returning ${COLUMNS}`,
    values: [
      ...[workspaceId, webhookId, event],
      ...[JSON.stringify(data), JSON.stringify({ ...more, test: true })],
    ],
  });
  return rows[0];
}
