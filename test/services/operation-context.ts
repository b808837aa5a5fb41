import { RateLimiter } from "../../api/access/rate-limiter.ts";
import { SessionCookie } from "../../api/access/session-cookie.ts";
import { SessionTokens } from "../../api/access/session-tokens.ts";
import { Cursors } from "../../api/operation/cursor.ts";
import type { OperationContext } from "../../api/operation/operation.ts";
import { permissionsOf } from "../../api/operation/permissions.ts";
import type { Principal } from "../../api/operation/principal.ts";
import { PasswordHasher } from "../../api/people/password-hasher.ts";
import { PeopleRequest } from "../../api/people/people-request.ts";
import { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { secretKeys } from "../samples/secret-keys.ts";
import { type Stores, testLog } from "./stores.ts";

export type CallerRole = Principal["role"];

/** The caller: a key of this workspace with all permissions of its role. */
export type Caller = {
  readonly role: CallerRole;
  readonly workspaceId: number;
  /** Account of partner keys. */
  readonly affiliateId: number;
  /** Account of advertiser keys. */
  readonly advertiserId: number;
  /** Time zone of the workspace; by default UTC. */
  readonly timezone?: string;
};

/** Opens no connection until it is used, and these tests do not use it. */
const outgoing = new OutgoingClient({ allowLoopback: false });

/** The context that REST and MCP give to an operation, for a test that runs the operation itself. */
export function operationContext(
  { pool, clickhouse, nats }: Stores,
  caller: Caller,
  others: { readonly nowMs?: number | undefined; readonly cursors?: Cursors } = {},
): OperationContext {
  const principal = principalOf(caller);
  return {
    principal,
    workspace: principal.workspace,
    db: pool,
    clickhouse,
    nats,
    outgoing,
    cursors: others.cursors ?? new Cursors("of the test"),
    secretKeys: secretKeys(),
    log: testLog(),
    requestId: "test",
    nowMs: others.nowMs ?? Date.now(),
    clientIp: "127.0.0.1",
    isFresh: true,
    rate: { limit: 600, remaining: 600, resetSec: 60 },
    settings: {
      apiUrl: "http://127.0.0.1",
      trackingUrl: "http://127.0.0.1",
      allowLoopback: false,
      clickRetentionDays: 0,
    },
  };
}

function principalOf({
  role,
  workspaceId,
  affiliateId,
  advertiserId,
  timezone = "UTC",
}: Caller): Principal {
  const names = { slug: "w", name: "W", brand_name: "" };
  const key = {
    actor: { kind: "key" as const, id: 1, name: "" },
    permissions: permissionsOf(role, null),
    workspace: { id: workspaceId, ...names, timezone, currency: "USD" },
  };
  const account = { name: "", status: "active", currency: "USD" };
  if (role === "partner") {
    const affiliate = { ...account, id: affiliateId, code: "PARTN1" };
    return { ...key, role, affiliate, advertiser: null };
  }
  if (role === "advertiser")
    return { ...key, role, affiliate: null, advertiser: { ...account, id: advertiserId } };
  return { ...key, role, affiliate: null, advertiser: null };
}

/** What operations for people have in addition: a session of nobody in particular. */
export function peopleRequest(db: Pool): PeopleRequest {
  const parts = {
    cookie: new SessionCookie("http://127.0.0.1"),
    tokens: new SessionTokens("of the test"),
    hasher: new PasswordHasher(),
    attempts: new RateLimiter(db, 30),
    mailer: undefined,
    oidc: undefined,
    box: undefined,
  };
  return new PeopleRequest(parts, {
    signedIn: {
      sessionId: "",
      state: "full",
      provedAtMs: 0,
      expiresAt: "",
      person: { id: 1, email: "", name: "", isOperator: false },
      membership: undefined,
    },
    token: undefined,
    host: "127.0.0.1",
    userAgent: "",
  });
}
