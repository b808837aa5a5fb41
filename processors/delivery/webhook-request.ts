import { createHmac } from "node:crypto";
import { z } from "zod";
import { type LeasedDelivery, type Prepared, requestHeader } from "./delivery.ts";
import type { WebhookSource } from "./webhooks.ts";

/** The facts written in the transaction of the change. */
const EventFacts = z.object({
  /** The document: the same bytes at every attempt (P26). */
  body: z.string(),
  /** A user asked for this delivery (a test or a repeat), so it is sent even if the webhook is not active. */
  is_ordered: z.boolean(),
});

const USER_AGENT = "Tracker-Webhook/1.0";

/**
 * The signed request that reports an event to a webhook, or the reason why there is none. Body and `X-Tracker-Delivery` are the same at
 * each attempt. The timestamp, and so the signature, are new at each attempt (T61).
 */
export function webhookRequest(
  delivery: Pick<LeasedDelivery, "id" | "facts" | "request_id">,
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
        ...requestHeader(delivery),
        "x-tracker-timestamp": timestamp,
        "x-tracker-signature": `t=${timestamp},v1=${signatureOf(timestamp, body, source.secret)}`,
      },
      body,
    },
  };
}

/** The key of the HMAC is the whole text of the secret (G131). */
function signatureOf(timestamp: string, body: string, secret: string): string {
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}
