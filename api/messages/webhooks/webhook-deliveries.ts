import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { WebhookEvent } from "../../records/webhook-events.ts";
import { DELIVERY_COLUMNS, type DeliveryRow } from "../deliveries/deliveries.ts";

type Caller = Pick<OperationContext, "db" | "workspace" | "requestId">;

/** A delivery whose webhook still exists. */
export async function findWebhookDelivery(
  db: Queryable,
  workspaceId: number,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "find-webhook-delivery",
    text: `select ${DELIVERY_COLUMNS} from delivery d join webhook w on w.id = d.endpoint_id
           where d.id = $2 and d.workspace_id = $1 and d.kind = 'webhook'`,
    values: [workspaceId, id],
  });
  return rows[0];
}

/**
 * Queues the document of a delivery again, as a new delivery to the webhook's current URL (G130). Undefined if the delivery does
 * not exist or its webhook was deleted.
 */
export async function repeatDelivery(
  { db, workspace, requestId }: Caller,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>({
    name: "repeat-webhook-delivery",
    text: `insert into delivery as d (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts,
             request_id)
           select o.workspace_id, o.kind, o.endpoint_id, w.destination, o.conversion_id, o.event, o.event_id,
             o.facts || '{"is_ordered": true}', $3
           from delivery o join webhook w on w.id = o.endpoint_id
           where o.id = $2 and o.workspace_id = $1 and o.kind = 'webhook'
           returning ${DELIVERY_COLUMNS}`,
    values: [workspace.id, id, requestId],
  });
  return rows[0];
}

/** Queues a document with sample data for one webhook, regardless of its subscriptions. */
export async function queueTest(
  { db, workspace, requestId }: Caller,
  webhookId: number,
  event: WebhookEvent,
  sample: { readonly data: unknown; readonly previous?: unknown },
): Promise<DeliveryRow | undefined> {
  const { data, ...more } = sample;
  const { rows } = await db.query<DeliveryRow>({
    name: "queue-webhook-test",
    text: `with new_event as (select gen_random_uuid() as id)
           insert into delivery as d (workspace_id, kind, endpoint_id, destination, event, event_id, facts, request_id)
           select w.workspace_id, 'webhook', w.id, w.destination, $3::text, t.id,
             jsonb_build_object('body', event_document(t.id, $1, $3::text, $4::json, $5::jsonb), 'is_ordered', true), $6
           from webhook w cross join new_event t where w.workspace_id = $1 and w.id = $2
           returning ${DELIVERY_COLUMNS}`,
    values: [
      workspace.id,
      webhookId,
      event,
      JSON.stringify(data),
      JSON.stringify({ ...more, test: true }),
      requestId,
    ],
  });
  return rows[0];
}
