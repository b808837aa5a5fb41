import { createHash } from "node:crypto";
import { z } from "zod";
import {
  PARTNER_POSTBACK_MACROS,
  type PostbackMacro,
  STAFF_POSTBACK_MACROS,
} from "../../schemas/macros/macro-names.ts";
import {
  expandPostback,
  INVALID_POSTBACK_URL,
  postbackCall,
} from "../../schemas/macros/postback-message.ts";
import { type LeasedDelivery, type Prepared, requestHeader } from "./delivery.ts";
import type { PostbackSource } from "./postbacks.ts";

/** The facts that schemas/postgres/functions/queue_postbacks.sql wrote in the transaction of the change. */
const ChangeFacts = z.object({
  status: z.string(),
  reason: z.string(),
  payout: z.string(),
  sale_amount: z.string(),
  old_status: z.string(),
  old_payout: z.string(),
  payout_delta: z.string(),
});
type ChangeFacts = z.infer<typeof ChangeFacts>;

export type QueuedPostback = Pick<
  LeasedDelivery,
  "id" | "trigger" | "facts" | "created_at" | "request_id"
>;

/** Kinds that are not sent as a request. HTML goes out with an iframe or script pixel; a delivery gets here when no pixel has taken it. */
const KINDS_NOT_SENT: Readonly<Partial<Record<PostbackSource["kind"], string>>> = {
  html: "HTML postbacks need an iframe or script pixel",
  capi: "conversion API delivery is not configured",
};
/** The request that reports a conversion to a partner, or the reason why there is none. The same at each attempt (P22). */
export function postbackRequest(delivery: QueuedPostback, source: PostbackSource): Prepared {
  const obstacle = postbackObstacle(delivery, source) ?? KINDS_NOT_SENT[source.kind];
  if (obstacle !== undefined) return { kind: "refused", error: obstacle, isEndpointsFault: false };
  const { macros, valueOf } = postbackMacros(delivery, source);
  const message = expandPostback(source, macros, valueOf);
  if ("invalidUrl" in message) {
    const url = message.invalidUrl;
    return { kind: "refused", error: INVALID_POSTBACK_URL, isEndpointsFault: true, url };
  }
  const headers = { "x-tracker-delivery": delivery.id, ...requestHeader(delivery) };
  return { kind: "send", request: postbackCall(message, headers) };
}

/** The macros that the author of a postback may use, and their values in this delivery (G125). */
export function postbackMacros(
  delivery: QueuedPostback,
  source: PostbackSource,
): {
  readonly macros: readonly PostbackMacro[];
  readonly valueOf: (macro: PostbackMacro) => string;
} {
  const change = ChangeFacts.parse(delivery.facts);
  return {
    macros: source.created_by_affiliate ? PARTNER_POSTBACK_MACROS : STAFF_POSTBACK_MACROS,
    valueOf: (macro) => macroValue(macro, { delivery, source, change }),
  };
}

/** Why a conversion must not be reported now, as shown in the delivery log. Checked right before each attempt (T11). */
export function postbackObstacle(
  { trigger }: Pick<QueuedPostback, "trigger">,
  source: PostbackSource,
): string | undefined {
  if (source.is_private) return "event is private";
  const reportsRejection = trigger === "rejected" || trigger === "reversal";
  if (source.is_rejected && !reportsRejection) return "conversion rejected";
  if (source.postback_status !== "active") return `postback is ${source.postback_status}`;
  return undefined;
}

function macroValue(
  macro: PostbackMacro,
  {
    delivery,
    source,
    change,
  }: {
    readonly delivery: QueuedPostback;
    readonly source: PostbackSource;
    readonly change: ChangeFacts;
  },
): string {
  switch (macro) {
    case "status":
    case "reason":
    case "payout":
    case "sale_amount":
    case "old_status":
    case "old_payout":
    case "payout_delta":
      return change[macro];
    case "event":
      return source.event_code;
    case "txid":
      return source.adv_txid ?? "";
    case "ip":
      return source.conv_ip ?? "";
    case "conversion_id":
    case "event_code":
    case "offer_code":
    case "offer_name":
    case "currency":
    case "conv_ts":
      return source[macro];
    case "offer_id":
    case "affiliate_id":
      return String(source[macro] ?? "");
    case "click_id":
    case "affiliate_code":
    case "click_ts":
      return source[macro] ?? "";
    case "random":
      return String(randomOf(delivery.id));
    case "timestamp":
      return String(Math.floor(Date.parse(delivery.created_at) / 1_000));
    case "adv1":
    case "adv2":
    case "adv3":
    case "adv4":
    case "adv5":
      return source.params[macro] ?? "";
    default:
      // Every other macro names a value of the click.
      return source.click[macro] ?? "";
  }
}

/** A number that differs between deliveries and is equal in all attempts of one, because they are the same message. */
function randomOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) % 1_000_000_000;
}
