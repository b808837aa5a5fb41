import { PostbackReply, type PostbackRequest } from "../schemas/events/postback-request.ts";
import { ask } from "../schemas/nats/ask.ts";
import type { NatsLink } from "./nats-link.ts";

/** One click look-up with a hanging ClickHouse takes up to 4.5 s. */
const REPLY_TIMEOUT_MS = 7_000;

/**
 * Sends a report to the conversion processors. Returns undefined when none answered in time: the report may or may not be
 * recorded, so send it again.
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

/** Whether the report is still undecided: the same report may get another answer later (P15). */
export function isOutage(
  reply: PostbackReply | undefined,
): reply is undefined | (PostbackReply & { httpStatus: 503 }) {
  return reply === undefined || reply.httpStatus === 503;
}
