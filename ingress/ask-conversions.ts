import { ClickRecord } from "../schemas/events/click-record.ts";
import { PostbackReply, type PostbackRequest } from "../schemas/events/postback-request.ts";
import { shardOfOffer } from "../schemas/events/shards.ts";
import { ask } from "../schemas/nats/ask.ts";
import { encodeRecord } from "./decide/encode-record.ts";
import type { NatsLink } from "./nats-link.ts";
import type { Recorded } from "./route.ts";

/** One click look-up with a hanging ClickHouse takes up to 4.5 s. */
const REPLY_TIMEOUT_MS = 7_000;

/**
 * Hands a report to the conversion processors. Undefined when nobody answered in time: it may or may not have been recorded, and
 * is to be sent again.
 */
export async function askConversions(
  link: Pick<NatsLink, "current">,
  report: PostbackRequest,
): Promise<PostbackReply | undefined> {
  return await ask(link.current(), {
    subject: ({ postback }) => postback,
    body: report,
    timeoutMs: REPLY_TIMEOUT_MS,
    answer: PostbackReply,
  });
}

/** Whether nothing was decided about the report: the same one may get another answer later (P15). */
export function isOutage(
  reply: PostbackReply | undefined,
): reply is undefined | (PostbackReply & { httpStatus: 503 }) {
  return reply === undefined || reply.httpStatus === 503;
}

/** The record of the click that a coupon stands for; undefined where there is none (G115). */
export function couponClickOf({ couponClick }: PostbackReply): Recorded | undefined {
  if (couponClick === undefined) return undefined;
  const line = encodeRecord(
    ClickRecord.parse({
      ...couponClick,
      link_type: "coupon",
      status: "none",
      status_reason: "coupon",
    }),
  );
  return { kind: "click", lane: shardOfOffer(couponClick.offer_id), line };
}
