import { createHmac } from "node:crypto";
import { z } from "zod";
import type { LeasedDelivery, Prepared } from "./delivery.ts";
import type { WebhookSource } from "./webhooks.ts";

/** What was written in the transaction of the change. */
const EventFacts = z.object({
  /** The document: these bytes, at every attempt (P26). */
  body: z.string(),
  /** Somebody asked for this very delivery: whether the webhook is active does not matter. */
  is_ordered: z.boolean(),
});

const USER_AGENT = "Tracker-Webhook/1.0";

/**
 * The signed request that tells a webhook of an event, or why there is none. Body and `X-Tracker-Delivery` are the same at
 * each attempt; the time, and with it the signature, are of this one (T61).
 */
export function webhookRequest(
  delivery: Pick<LeasedDelivery, "id" | "facts">,
  source: WebhookSource,
  nowMs: number,
): Prepared {
  const { body, is_ordered: isOrdered } = EventFacts.parse(delivery.facts);
  if (!source.active && !isOrdered)
    return { kind: "refused", error: "webhook is not active", isEndpointsFault: false };
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    kind: "send",
    request: {
      url: new URL(source.url),
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "x-tracker-event": source.event,
        "x-tracker-delivery": delivery.id,
        "x-tracker-timestamp": timestamp,
        "x-tracker-signature": `t=${timestamp},v1=${signatureOf(timestamp, body, source.secret)}`,
      },
      body,
    },
  };
}

/** G131: the key is the whole text of the secret. */
function signatureOf(timestamp: string, body: string, secret: string): string {
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}
