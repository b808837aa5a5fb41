import { createHash } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction, poolWithin } from "../../schemas/postgres/transaction.ts";
import { ApiError, conflict } from "../operation/errors.ts";
import type { OperationResult, RequestContext } from "../operation/operation.ts";
import { scopeOf } from "../operation/principal.ts";

/** A request to an operation that keeps its answer (N5). */
export type KeyedRequest = {
  /** The value of `Idempotency-Key`; undefined without the header. */
  readonly key: string | undefined;
  readonly method: string;
  /** With the query. */
  readonly url: string;
  /** As it was parsed. */
  readonly body: unknown;
};

const KEY = /^[A-Za-z0-9._-]{1,64}$/;
const FIELD = "idempotency_key";
const REPLAYED = "idempotency-replayed";
const RETRY_AFTER_SEC = "1";

/**
 * Runs `work` so that a request with the same key has its effect once. The effect and its answer are one transaction of the database: whatever
 * dies, either both are there or neither is. A refusal has no effect and is not kept.
 *
 * `work` gets a `db` inside that transaction. It may run twice after a conflict, so it must have no effect outside of the database.
 * @throws {ApiError} `invalid_request` for a faulty key; `conflict` if the key came with another request, or if its first request is under way.
 */
export async function answerOnce(
  context: RequestContext,
  request: KeyedRequest,
  work: (context: RequestContext) => Promise<OperationResult>,
): Promise<OperationResult> {
  const { key } = request;
  if (key === undefined) return await work(context);
  if (!KEY.test(key))
    throw new ApiError("invalid_request", "Idempotency-Key: expected 1 to 64 of A-Z a-z 0-9 . _ -");
  const { principal } = context;
  if (principal === undefined) throw new Error("an answer is kept for a principal only");
  // Callers of another account or role see other answers, so that their keys are other keys.
  const kept = { workspaceId: principal.workspace.id, key: `${scopeOf(principal)}/${key}` };
  const fingerprint = fingerprintOf(request);
  return await inTransaction(context.db, async (tx) => {
    await lock(tx, kept);
    const first = await findAnswer(tx, kept);
    if (first !== undefined) return replay(first, fingerprint);
    const result = await work({ ...context, db: poolWithin(tx) });
    if ("stream" in result) throw new Error("a stream cannot be kept");
    await keepAnswer(tx, kept, { ...result, fingerprint });
    return result;
  });
}

type KeptKey = { readonly workspaceId: number; readonly key: string };

type KeptAnswer = {
  readonly fingerprint: Buffer;
  /** 0: the status of success of the operation. */
  readonly status: number;
  readonly body: unknown;
};

/** Of method, path and body. */
function fingerprintOf({ method, url, body }: KeyedRequest): Buffer {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body) ?? ""}`)
    .digest();
}

function replay(first: KeptAnswer, fingerprint: Buffer): OperationResult {
  if (!first.fingerprint.equals(fingerprint))
    throw conflict(FIELD, "this key was sent with another request");
  return {
    body: first.body,
    ...(first.status === 0 ? {} : { status: first.status }),
    headers: { [REPLAYED]: "true" },
  };
}

/** Until the end of the transaction. @throws {ApiError} `conflict` while another request has it. */
async function lock(tx: Queryable, { workspaceId, key }: KeptKey): Promise<void> {
  const { rows } = await tx.query<{ taken: boolean }>({
    name: "lock-idempotency-key",
    text: "select pg_try_advisory_xact_lock(hashtextextended('idempotency ' || $1::text || ' ' || $2::text, 0)) as taken",
    values: [workspaceId, key],
  });
  if (rows[0]?.taken === true) return;
  throw new ApiError("conflict", "the first request with this key is under way", {
    details: { field: FIELD },
    headers: { "retry-after": RETRY_AFTER_SEC },
  });
}

async function findAnswer(
  tx: Queryable,
  { workspaceId, key }: KeptKey,
): Promise<KeptAnswer | undefined> {
  const { rows } = await tx.query<KeptAnswer>({
    name: "find-idempotent-answer",
    text: `select fingerprint, status, body from idempotent_answer
           where workspace_id = $1 and key = $2 and created_at > now() - interval '30 days'`,
    values: [workspaceId, key],
  });
  return rows[0];
}

/** Replaces only an answer that is older than 30 days and was not yet deleted. */
async function keepAnswer(
  tx: Queryable,
  { workspaceId, key }: KeptKey,
  {
    body,
    status,
    fingerprint,
  }: { readonly body: unknown; readonly status?: number; readonly fingerprint: Buffer },
): Promise<void> {
  await tx.query({
    name: "keep-idempotent-answer",
    text: `insert into idempotent_answer (workspace_id, key, fingerprint, status, body) values ($1, $2, $3, $4, $5)
           on conflict (workspace_id, key) do update
           set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, created_at = excluded.created_at`,
    values: [workspaceId, key, fingerprint, status ?? 0, JSON.stringify(body)],
  });
}
