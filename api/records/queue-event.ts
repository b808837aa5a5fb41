import { isDeepStrictEqual } from "node:util";
import type { Cause } from "../../schemas/events/cause.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** An object as a document contains it. */
export type Shown = Readonly<Record<string, unknown>>;

export type EventDocument = {
  /** The record after the change, as the document shows it. */
  readonly data: Shown;
  /** The record before the change. The document contains the differing fields as `previous`. */
  readonly before?: Shown;
};

/** Changes with every write, so it is left out of `previous`. */
const ALWAYS_CHANGES = "updated_at";

/**
 * Queues an event for the webhooks that subscribe to it, in the transaction of the change: both are committed or neither is (P21).
 * `makeDocument` is called only if such a webhook exists. The delivery carries the ID of the request.
 */
export async function queueEvent(
  tx: Queryable,
  { workspace, requestId, trace }: Pick<OperationContext, "workspace" | "requestId" | "trace">,
  event: WebhookEvent,
  makeDocument: () => EventDocument,
): Promise<void> {
  const { rows } = await tx.query<{ is_subscribed: boolean }>({
    name: "has-webhook-subscriber",
    text: "select has_subscriber($1, $2) as is_subscribed",
    values: [workspace.id, event],
  });
  if (rows[0]?.is_subscribed !== true) return;
  const { data, before } = makeDocument();
  const cause: Cause = { request_id: requestId, traceparent: trace?.traceparent };
  const more = before === undefined ? {} : { previous: differing(before, data) };
  await tx.query({
    name: "queue-webhook-event",
    text: "select queue_event($1, $2, $3::json, $4::jsonb, null, $5::jsonb)",
    values: [
      workspace.id,
      event,
      JSON.stringify(data),
      JSON.stringify(more),
      JSON.stringify(cause),
    ],
  });
}

/** The fields of `before` whose values differ in `after`. */
function differing(before: Shown, after: Shown): Shown {
  return Object.fromEntries(
    Object.entries(before).filter(
      ([field, value]) => field !== ALWAYS_CHANGES && !isDeepStrictEqual(value, after[field]),
    ),
  );
}
