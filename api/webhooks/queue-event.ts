import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** An object as it stands in a document. */
export type Shown = Readonly<Record<string, unknown>>;

export type Told = {
  /** The record after the change, as the document shows it. */
  readonly data: Shown;
  /** The same before it; the document has what differs as `previous`. */
  readonly before?: Shown;
};

/** Says that there was a change; what differs whenever anything does tells nothing. */
const MOVES_ALWAYS = "updated_at";

/**
 * Queues an event for the webhooks that subscribed to it, in the transaction of its change: both are committed or neither is
 * (P21). `tell` is asked only when there is such a webhook.
 */
export async function queueEvent(
  tx: Queryable,
  workspaceId: number,
  event: WebhookEvent,
  tell: () => Told,
): Promise<void> {
  const { rows } = await tx.query<{ is_told: boolean }>({
    name: "has-webhook-subscriber",
    text: "select has_subscriber($1, $2) as is_told",
    values: [workspaceId, event],
  });
  if (rows[0]?.is_told !== true) return;
  const { data, before } = tell();
  const more = before === undefined ? {} : { previous: differing(before, data) };
  await tx.query({
    name: "queue-webhook-event",
    text: "select queue_event($1, $2, $3::json, $4::jsonb, null)",
    values: [workspaceId, event, JSON.stringify(data), JSON.stringify(more)],
  });
}

/** The fields of `before` that `after` has otherwise. */
function differing(before: Shown, after: Shown): Shown {
  return Object.fromEntries(
    Object.entries(before).filter(
      ([field, value]) => field !== MOVES_ALWAYS && !isDeepStrictEqual(value, after[field]),
    ),
  );
}
