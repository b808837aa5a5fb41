import { createHash } from "node:crypto";
import { parseSentJson, RECORD_BOUNDS } from "../../schemas/json/sent-json.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction, poolWithin } from "../../schemas/postgres/transaction.ts";
import { purposeOf } from "../../schemas/secrets/sealed-columns.ts";
import { SecretKeyError, type SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import { ApiError, conflict } from "../operation/errors.ts";
import type { OperationResult, ReceivedFile, RequestContext } from "../operation/operation.ts";
import { scopeOf } from "../operation/principal.ts";

/** A request to an operation that keeps its answer (N5). */
type KeyedRequest = {
  /** The value of `Idempotency-Key`; undefined without the header. */
  readonly key: string | undefined;
  readonly method: string;
  /** With the query. */
  readonly url: string;
  /** As it was parsed. */
  readonly body: unknown;
  /** The answer has a secret. */
  readonly isSealed: boolean;
};

const KEY = /^[A-Za-z0-9._-]{1,64}$/;
const FIELD = "idempotency_key";
const REPLAYED = "idempotency-replayed";
const RETRY_AFTER_SEC = "1";

type Work = (context: RequestContext) => Promise<OperationResult>;

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
  work: Work,
): Promise<OperationResult> {
  const kept = keptKeyOf(context, request);
  if (kept === undefined) return await work(context);
  return await inOneTransaction(context, kept, { fingerprint: () => fingerprintOf(request), work });
}

/**
 * The same for a request whose body is a file. Nobody waits in a transaction for a file that arrives: `work` stores it where it has no effect, and
 * then makes its effect and its answer in `context.answerOnce`.
 */
export async function answerFileOnce(
  context: RequestContext,
  { file, ...request }: Omit<KeyedRequest, "body"> & { readonly file: ReceivedFile },
  work: (context: RequestContext, file: ReceivedFile) => Promise<OperationResult>,
): Promise<OperationResult> {
  const kept = keptKeyOf(context, request);
  if (kept === undefined) return await work(context, file);
  const hash = createHash("sha256");
  const fingerprint = (): Buffer =>
    fingerprintOf({ ...request, body: hash.copy().digest("base64") });
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of file.pieces()) {
      hash.update(piece);
      yield piece;
    }
  };
  const first = await findAnswer(context.db, kept);
  if (first !== undefined) {
    for await (const _piece of pieces());
    return replay(kept, first, fingerprint());
  }
  const once = async (end: Work): Promise<OperationResult> =>
    await inOneTransaction(context, kept, { fingerprint, work: end });
  return await work({ ...context, answerOnce: once }, { pieces });
}

type KeptKey = {
  readonly workspaceId: number;
  readonly key: string;
  /** Seals the answer if it has a secret. */
  readonly secretKeys: SecretKeys;
  readonly isSealed: boolean;
};

/** Undefined without the header. @throws {ApiError} `invalid_request` */
function keptKeyOf(
  { principal, secretKeys }: RequestContext,
  { key, isSealed }: Pick<KeyedRequest, "key" | "isSealed">,
): KeptKey | undefined {
  if (key === undefined) return undefined;
  if (!KEY.test(key))
    throw new ApiError("invalid_request", "Idempotency-Key: expected 1 to 64 of A-Z a-z 0-9 . _ -");
  if (principal === undefined) throw new Error("an answer is kept for a principal only");
  // Callers of another account or role see other answers, so that their keys are other keys. A secret comes again only to who got it.
  const { workspace, actor } = principal;
  const scope = isSealed ? `${scopeOf(principal)}/${actor.kind} ${actor.id}` : scopeOf(principal);
  return {
    workspaceId: workspace.id,
    key: `${scope}/${key}`,
    secretKeys,
    isSealed,
  };
}

async function inOneTransaction(
  context: RequestContext,
  kept: KeptKey,
  { fingerprint, work }: { readonly fingerprint: () => Buffer; readonly work: Work },
): Promise<OperationResult> {
  let isDue = false;
  const { imports } = context;
  const result = await inTransaction(context.db, async (tx): Promise<OperationResult> => {
    await lock(tx, kept);
    const first = await findAnswer(tx, kept);
    if (first !== undefined) return replay(kept, first, fingerprint());
    const made = await work({
      ...context,
      db: poolWithin(tx),
      // Whoever is woken must find what was committed.
      imports: imports && { ...imports, due: () => (isDue = true) },
    });
    if ("stream" in made) throw new Error("a stream cannot be kept");
    await keepAnswer(tx, kept, { ...made, fingerprint: fingerprint() });
    return made;
  });
  if (isDue) imports?.due();
  return result;
}

type KeptAnswer = {
  readonly fingerprint: Buffer;
  /** 0: the status of success of the operation. */
  readonly status: number;
  /** Null if it is sealed. */
  readonly body: unknown;
  readonly sealed: Buffer | null;
};

/** Of method, path and body. */
function fingerprintOf({
  method,
  url,
  body,
}: Pick<KeyedRequest, "method" | "url" | "body">): Buffer {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body) ?? ""}`)
    .digest();
}

/** @throws {ApiError} `conflict`. @throws {SecretKeyError} if no key of the ring opens the answer. */
function replay(kept: KeptKey, first: KeptAnswer, fingerprint: Buffer): OperationResult {
  if (!first.fingerprint.equals(fingerprint))
    throw conflict(FIELD, "this key was sent with another request");
  return {
    body: first.sealed === null ? first.body : opened(kept, first.sealed),
    ...(first.status === 0 ? {} : { status: first.status }),
    headers: { [REPLAYED]: "true" },
  };
}

function opened(kept: KeptKey, sealed: Buffer): unknown {
  const bytes = kept.secretKeys.openBytes(purposeOfAnswer(kept), sealed);
  if (bytes === undefined)
    throw new SecretKeyError("no key of SECRETS_KEY opens the answer to an Idempotency-Key");
  return parseSentJson(bytes.toString(), RECORD_BOUNDS);
}

/** A copied cell does not open under another key. */
function purposeOfAnswer({ workspaceId, key }: KeptKey): string {
  return purposeOf("idempotent_answer", workspaceId, key);
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
    text: `select fingerprint, status, body, sealed from idempotent_answer
           where workspace_id = $1 and key = $2 and created_at > now() - interval '30 days'`,
    values: [workspaceId, key],
  });
  return rows[0];
}

/** Replaces only an answer that is older than 30 days and was not yet deleted. */
async function keepAnswer(
  tx: Queryable,
  kept: KeptKey,
  {
    body,
    status,
    fingerprint,
  }: { readonly body: unknown; readonly status?: number; readonly fingerprint: Buffer },
): Promise<void> {
  const text = JSON.stringify(body);
  const sealed = kept.isSealed
    ? kept.secretKeys.sealBytes(purposeOfAnswer(kept), Buffer.from(text))
    : null;
  await tx.query({
    name: "keep-idempotent-answer",
    text: `insert into idempotent_answer (workspace_id, key, fingerprint, status, body, sealed) values ($1, $2, $3, $4, $5, $6)
           on conflict (workspace_id, key) do update
           set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, sealed = excluded.sealed,
             created_at = excluded.created_at`,
    values: [
      kept.workspaceId,
      kept.key,
      fingerprint,
      status ?? 0,
      sealed === null ? text : null,
      sealed,
    ],
  });
}
