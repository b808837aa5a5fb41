import type { Cause } from "../events/cause.ts";
import type { Queryable } from "../postgres/connect.ts";

/**
 * Queues an event about a record of money for the webhooks that subscribe to it, in the transaction of the change (P21, N14). The api and the
 * recurring tasks make the same documents.
 */
export async function queueBillingEvent(
  tx: Queryable,
  workspaceId: number,
  {
    event,
    data,
    cause,
  }: {
    readonly event: "invoice.created" | "invoice.paid";
    readonly data: Readonly<Record<string, unknown>>;
    /** Undefined for a recurring task. */
    readonly cause: Cause | undefined;
  },
): Promise<void> {
  await tx.query({
    name: "queue-billing-event",
    text: "select queue_event($1, $2, $3::json, '{}'::jsonb, null, $4::jsonb) where has_subscriber($1, $2)",
    values: [workspaceId, event, JSON.stringify(data), cause ? JSON.stringify(cause) : null],
  });
}
