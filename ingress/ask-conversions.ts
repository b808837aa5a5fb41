import { PostbackReply, type PostbackRequest } from "../schemas/events/postback-request.ts";
import { ask } from "../schemas/nats/ask.ts";
import type { NatsLink } from "../schemas/nats/nats-link.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";

/** With a hanging ClickHouse the look-up of the click takes up to 2.6 s, and the count of clicks by address another 4 s. */
const REPLY_TIMEOUT_MS = 7_000;

export type ConversionsLink = {
  readonly link: Pick<NatsLink, "current">;
  readonly tracing?: Tracing | undefined;
};

/**
 * Sends a report to the conversion processors. Undefined when none answered in time: the report may or may not be recorded, and the
 * sender must repeat it.
 */
export async function askConversions(
  { link, tracing }: ConversionsLink,
  report: PostbackRequest,
): Promise<PostbackReply | undefined> {
  const { requestId: request_id, endpoint } = report;
  const span = tracing?.start("ingress.postback", { facts: { request_id, endpoint } });
  const traceparent = span?.traceparent;
  let reply: PostbackReply | undefined;
  try {
    reply = await ask(link.current(), {
      subject: ({ postback }) => postback,
      body: report,
      cause: request_id === undefined ? undefined : { request_id, traceparent },
      timeoutMs: REPLY_TIMEOUT_MS,
      answer: PostbackReply,
    });
    return reply;
  } finally {
    span?.end(
      { result: reply?.result ?? "unavailable", status: reply?.httpStatus },
      { isFailed: isOutage(reply) },
    );
  }
}

/** Whether our side could not decide the report now. Then it is no refusal, and the sender may repeat the report (P15). */
export function isOutage(
  reply: PostbackReply | undefined,
): reply is undefined | (PostbackReply & { httpStatus: 503 }) {
  return reply === undefined || reply.httpStatus === 503;
}
