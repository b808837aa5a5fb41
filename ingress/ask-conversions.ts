import { PostbackReply, type PostbackRequest } from "../schemas/events/postback-request.ts";
import { ask } from "../schemas/nats/ask.ts";
import type { NatsLink } from "./nats-link.ts";

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
