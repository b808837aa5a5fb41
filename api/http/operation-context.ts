import type { FastifyRequest } from "fastify";
import type { ClickhouseEditor } from "../../schemas/clickhouse/connect.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { SecretKeys } from "../../schemas/secrets/secret-keys.ts";
import type { SignedIn } from "../access/sessions.ts";
import type { Cursors } from "../operation/cursor.ts";
import type {
  ClickTotals,
  ImportSignals,
  OperationContext,
  OperationSettings,
  RequestContext,
} from "../operation/operation.ts";
import { keyIdOf } from "../operation/principal.ts";
import type { Admission, AdmissionDeps } from "./admission.ts";
import { isFresh } from "./caller-refusal.ts";
import type { ClickhouseSlots } from "./slots/clickhouse-slots.ts";
import type { SharedPages } from "./slots/shared-pages.ts";

const USER_AGENT_MAX = 300;

/** What REST and MCP give operations in addition to the request. */
export type OperationParts = {
  readonly db: Pool;
  readonly clickhouse: ClickhouseEditor;
  readonly slots: ClickhouseSlots;
  readonly pages: SharedPages;
  readonly nats: () => Nats | undefined;
  readonly clickTotals: ClickTotals;
  readonly imports: ImportSignals;
  readonly outgoing: OutgoingClient;
  readonly cursors: Cursors;
  readonly secretKeys: SecretKeys;
  /** Whether SMTP_URL is set. */
  readonly sendsMail: boolean;
  readonly log: Log;
  readonly settings: OperationSettings;
};

/** What operations for people read of a request. */
export type PersonRequest = {
  readonly signedIn: SignedIn | undefined;
  readonly cookie: string | undefined;
  readonly host: string;
  readonly userAgent: string;
};

/** What the server asks of the part that knows people. */
export type PeopleRequests = {
  /** Counts an attempt of an address before anything of its body is read (G215). @throws {ApiError} `rate_limited` */
  readonly countAddress: (ip: string) => Promise<void>;
  /** What operations for people find as `people` in their context. */
  readonly read: (request: PersonRequest) => unknown;
};

type Admitted = Pick<FastifyRequest, "admission" | "trace">;

/** The context for the operations of one request of a key. */
export function contextOf(parts: OperationParts, request: Admitted): OperationContext {
  const { principal, workspace, ...context } = contextWithout(parts, request);
  // Requests without a principal were refused earlier.
  if (principal === undefined || workspace === undefined)
    throw new Error("an operation was reached without a principal");
  return { ...context, principal, workspace };
}

/** The context for the operation of a request, which may be for people. */
export function requestContextOf(
  parts: OperationParts & { readonly people: PeopleRequests },
  request: Admitted & Pick<FastifyRequest, "routeOptions" | "headers">,
): RequestContext {
  if (request.routeOptions.config.operation?.access.callers === undefined)
    return contextOf(parts, request);
  const { host, cookie, "user-agent": userAgent = "" } = request.headers;
  return {
    ...contextWithout(parts, request),
    people: parts.people.read({
      signedIn: request.admission?.signedIn,
      cookie,
      host: host ?? "",
      userAgent: userAgent.slice(0, USER_AGENT_MAX),
    }),
  };
}

function contextWithout(parts: OperationParts, { admission, trace }: Admitted): RequestContext {
  if (admission === undefined) throw new Error("an operation was reached before its admission");
  const { principal, signedIn, requestId, nowMs, ip, rate } = admission;
  return {
    principal,
    workspace: principal?.workspace,
    db: parts.db,
    clickhouse: parts.clickhouse,
    nats: parts.nats(),
    clickTotals: parts.clickTotals,
    imports: parts.imports,
    outgoing: parts.outgoing,
    cursors: parts.cursors,
    secretKeys: parts.secretKeys,
    sendsMail: parts.sendsMail,
    log: parts.log.child({ request_id: requestId }),
    requestId,
    trace,
    nowMs,
    clientIp: ip,
    isFresh: signedIn === undefined || isFresh(signedIn, nowMs),
    rate,
    settings: parts.settings,
  };
}

/** Records when the key or the session was last used, without delaying the request. */
export function noteUse(
  {
    keys,
    sessionAdmission,
    log,
  }: Pick<AdmissionDeps, "keys" | "sessionAdmission"> & { readonly log: Log },
  { principal, signedIn, nowMs }: Admission,
): void {
  if (signedIn !== undefined) {
    sessionAdmission?.sessions.noteUse(signedIn.sessionId, nowMs).catch((error: unknown) => {
      log.warn({ err: error, personId: signedIn.person.id }, "session.use-not-noted");
    });
  }
  const keyId = principal === undefined ? null : keyIdOf(principal.actor);
  if (keyId === null) return;
  keys.noteUse(keyId, nowMs).catch((error: unknown) => {
    log.warn({ err: error, keyId }, "key.use-not-noted");
  });
}
