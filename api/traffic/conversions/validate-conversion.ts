import { z } from "zod";
import { PostbackReply, type PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ask } from "../../../schemas/nats/ask.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { staff } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { recordId, text } from "../../fields/body-fields.ts";
import { unavailable } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";

/** Longer than a processor needs when ClickHouse hangs, as for `/pb`. */
const ANSWER_TIMEOUT_MS = 8_000;
const PARAMS_MAX = 100;
const VALUE_MAX = 4_096;
const NAME_MAX = 64;

const Body = z.strictObject({
  params: z
    .record(text(NAME_MAX).min(1), text(VALUE_MAX), "expected an object of texts")
    .refine(
      (params) => Object.keys(params).length <= PARAMS_MAX,
      `expected at most ${PARAMS_MAX} parameters`,
    )
    .refine((params) => !("token" in params), "the token is added: leave it out"),
  advertiser_id: recordId.nullable().optional(),
});
type Body = z.output<typeof Body>;

export const validateConversion: Operation = operation({
  name: "validateConversion",
  method: "POST",
  path: "/conversions/validate",
  tag: "Conversions",
  summary: "Judge a report of a conversion",
  description:
    "Answers what `/pb` would, and records nothing. Takes the parameters of `/pb` and judges them as a report with `test=1`, with the token of the workspace, or with that of " +
    "`advertiser_id`. The inbound log gets a row with the result `test`.",
  access: staff("conversions.read"),
  input: { body: Body },
  output: z.object({
    data: z
      .strictObject({
        http_status: z.int(),
        result: z.string(),
        answer: z.looseObject({ ok: z.boolean() }),
      })
      .meta({ id: "ValidatedConversion" }),
  }),
  status: 200,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { advertiser_id: "advertiser" }),
  run: async (context, { body }) => {
    const { httpStatus, result, body: answer } = await judge(context, body);
    return { body: { data: { http_status: httpStatus, result, answer } } };
  },
});

async function judge(context: OperationContext, body: Body): Promise<PostbackReply> {
  const { db, nats, workspace, nowMs, clientIp, requestId, trace, settings } = context;
  const token = await findToken(db, workspace.id, body.advertiser_id ?? null);
  const report: PostbackRequest = {
    endpoint: "pb",
    params: { ...body.params, test: "1", token },
    cookieClickId: "",
    host: new URL(settings.trackingUrl).hostname,
    ip: clientIp,
    userAgent: "",
    receivedAtMs: nowMs,
  };
  const reply = await ask(nats, {
    subject: ({ postback }) => postback,
    body: report,
    cause: { request_id: requestId, traceparent: trace?.traceparent },
    timeoutMs: ANSWER_TIMEOUT_MS,
    answer: PostbackReply,
  });
  if (reply === undefined || reply.httpStatus === 503)
    throw unavailable("the processing of conversions");
  return reply;
}

/** The token of the advertiser, or of the workspace. */
async function findToken(
  db: Queryable,
  workspaceId: number,
  advertiserId: number | null,
): Promise<string> {
  const { rows } = await db.query<{ postback_token: string }>({
    name: "find-token-to-validate",
    text: `select w.postback_token from workspace w where w.id = $1 and $2::integer is null
           union all
           select v.postback_token from advertiser v where v.workspace_id = $1 and v.id = $2`,
    values: [workspaceId, advertiserId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the workspace or the advertiser found before is gone");
  return row.postback_token;
}
