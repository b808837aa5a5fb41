import { z } from "zod";
import { PostbackReply, type PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ask } from "../../../schemas/nats/ask.ts";
import { advertiserOnly } from "../../access/access-of-operations.ts";
import { readOwnTokens } from "../../catalog/advertisers/own-tokens.ts";
import { text } from "../../fields/body-fields.ts";
import { unavailable } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { advertiserIdOf } from "./own-token-operations.ts";
import { stepsOf } from "./postback-steps.ts";

/** A look-up in a hanging ClickHouse takes up to 7 s. */
const ANSWER_TIMEOUT_MS = 8_000;
const PARAMS_MAX = 64;
const NAME_MAX = 100;
const VALUE_MAX = 2_000;

const Body = z.strictObject({
  params: z
    .record(text(NAME_MAX), text(VALUE_MAX), "expected an object of texts")
    .refine((params) => Object.keys(params).length <= PARAMS_MAX, {
      message: `expected at most ${PARAMS_MAX} parameters`,
    })
    .meta({ examples: [{ click_id: "0123456789abcdef0123456789abcdef", amount: "49.90" }] }),
});

const Tested = z
  .strictObject({
    http_status: z.int(),
    answer: z.looseObject({ ok: z.boolean() }),
    steps: z.array(
      z.strictObject({
        name: z.string(),
        outcome: z.enum(["passed", "failed", "not_reached"]),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: "TestedPostback" });

export const testOwnPostback: Operation = operation({
  name: "testOwnPostback",
  method: "POST",
  path: "/me/test-postback",
  tag: "Account",
  summary: "Test a postback of the advertiser",
  description:
    "Judges it as `/pb` would, and records nothing. As `/pb?test=1` with the advertiser's own token and from the address of this request. The answer is that of `/pb`; `steps` says how far the " +
    "postback came. Only the inbound log gets a row.",
  access: advertiserOnly("conversions.read"),
  input: { body: Body },
  output: z.object({ data: Tested }),
  status: 200,
  failures: ["unavailable"],
  run: async (context, { body }) => {
    const { httpStatus, result, body: answer } = await judged(context, body.params);
    const steps = stepsOf({ result, answer });
    return { body: { data: { http_status: httpStatus, answer, steps } } };
  },
});

/** @throws {ApiError} `unavailable` when no processor could judge it. */
async function judged(
  context: OperationContext,
  params: Readonly<Record<string, string>>,
): Promise<PostbackReply> {
  const { db, nats, nowMs, requestId, clientIp, trace } = context;
  const { postback_token: token } = await readOwnTokens(db, advertiserIdOf(context));
  const report: PostbackRequest = {
    endpoint: "pb",
    params: { ...params, token, test: "1" },
    cookieClickId: "",
    // No tracking domain has this host, so it serves every workspace.
    host: "",
    ip: clientIp,
    userAgent: "",
    receivedAtMs: nowMs,
    requestId,
  };
  let reply: PostbackReply | undefined;
  try {
    reply = await ask(nats, {
      subject: ({ postback }) => postback,
      body: report,
      cause: { request_id: requestId, traceparent: trace?.traceparent },
      timeoutMs: ANSWER_TIMEOUT_MS,
      answer: PostbackReply,
    });
  } catch (error) {
    throw unavailable("the processing of conversions", error);
  }
  if (reply === undefined || reply.httpStatus === 503)
    throw unavailable("the processing of conversions");
  return reply;
}
