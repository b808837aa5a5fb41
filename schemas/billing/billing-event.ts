import type { Cause } from "../events/cause.ts";
import type { Queryable } from "../postgres/connect.ts";

/** Who did something: a key, a person, or neither for what a task does by itself. */
export type BillingActor = {
  readonly keyId?: number | undefined;
  readonly personId?: number | undefined;
};

/**
 * Queues an event of billing for the webhooks that subscribe to it, in the transaction of the change (N14). `makeData` is called only if such a
 * webhook exists.
 */
export async function queueBillingEvent(
  tx: Queryable,
  workspaceId: number,
  event: string,
  {
    cause,
    makeData,
  }: { readonly cause?: Cause | undefined; readonly makeData: () => Promise<unknown> },
): Promise<void> {
  const { rows } = await tx.query<{ is_subscribed: boolean }>({
    name: "has-subscriber-of-billing",
    text: "select has_subscriber($1, $2) as is_subscribed",
    values: [workspaceId, event],
  });
  if (rows[0]?.is_subscribed !== true) return;
  await tx.query({
    name: "queue-billing-event",
    text: "select queue_event($1, $2, $3::json, '{}', null, $4::jsonb)",
    values: [
      workspaceId,
      event,
      JSON.stringify(await makeData()),
      cause === undefined ? null : JSON.stringify(cause),
    ],
  });
}
