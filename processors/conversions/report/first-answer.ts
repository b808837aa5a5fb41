import { z } from "zod";
import { CONVERSION_STATUSES } from "../../../schemas/events/conversion-words.ts";
import { PostbackReply } from "../../../schemas/events/postback-request.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { jsonParameter } from "./json-parameter.ts";
import { type Handled, refusal, takenReply } from "./postback-answer.ts";
import { malformed } from "./refusal.ts";
import type { ReportKey } from "./report-key.ts";

/** The first answer to a report with this idempotency key, as Postgres keeps it. */
export const Keyed = z.object({
  outcome: z.literal("keyed"),
  fingerprint: z.string(),
  answer: z.union([
    z.object({
      taken: z.object({
        conversionId: z.string(),
        status: z.enum(CONVERSION_STATUSES),
        reason: z.string(),
        isDuplicate: z.boolean(),
        isUpdate: z.boolean(),
        details: z.record(z.string(), z.unknown()),
      }),
    }),
    z.object({ reply: PostbackReply, conversionId: z.string().nullable() }),
  ]),
});
export type Keyed = z.infer<typeof Keyed>;

/** The fingerprint of a report after its person's data was erased (G207): it can no longer be compared. */
const ERASED = "\\x";
const USED = malformed("idempotency key was used for another report");

/** The answer to a report with a known key: the first answer again, or a refusal if the first report was a different one. */
export function keyedAnswer(key: ReportKey, { fingerprint, answer }: Keyed): Handled {
  const common = { workspaceId: key.workspace_id, clickId: undefined, keyToStore: undefined };
  if (fingerprint !== ERASED && fingerprint !== key.fingerprint)
    return { ...refusal(USED, common), keyToStore: undefined };
  if ("reply" in answer) {
    const { error = "" } = z.looseObject({ error: z.string().optional() }).parse(answer.reply.body);
    const conversionId = answer.conversionId ?? undefined;
    return { reply: answer.reply, ...common, conversionId, message: error };
  }
  const { taken } = answer;
  return {
    reply: takenReply(taken),
    ...common,
    conversionId: taken.conversionId,
    message: taken.reason,
  };
}

/** The first answer under the key; undefined for a new one. */
export async function findFirstAnswer(db: Queryable, key: ReportKey): Promise<Handled | undefined> {
  const { rows } = await db.query<{ kept: unknown }>({
    name: "find-report-key",
    text: "select find_report_key($1::jsonb) as kept",
    values: [jsonParameter(key)],
  });
  const kept = Keyed.nullable().parse(rows[0]?.kept);
  return kept === null ? undefined : keyedAnswer(key, kept);
}

/**
 * Stores an answer that changed no conversion, and returns it. If another report with the same key came first, returns the answer to the
 * earlier report.
 */
export async function keepFirstAnswer(
  db: Queryable,
  key: ReportKey,
  handled: Handled,
): Promise<Handled> {
  const { reply, conversionId = null } = handled;
  const { rows } = await db.query<{ kept: unknown }>({
    name: "keep-report-key",
    text: "select keep_report_key($1::jsonb, $2::jsonb) as kept",
    values: [jsonParameter(key), jsonParameter({ reply, conversionId })],
  });
  const first = keyedAnswer(key, Keyed.parse(rows[0]?.kept));
  return { ...first, clickId: handled.clickId };
}
