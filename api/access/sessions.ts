import type { Queryable } from "../../schemas/postgres/connect.ts";
import { permissionsOf, type Role } from "../operation/permissions.ts";
import { type AccountColumns, accountOf, type Principal } from "../operation/principal.ts";
import { hashOfToken, type SessionTokens } from "./session-tokens.ts";

/** A membership that exists and is active. Its workspace or account may be inactive. */
export type FoundMembership = {
  readonly principal: Principal;
  readonly version: number;
  readonly isWorkspaceActive: boolean;
};

/** A person with a session that has not ended. */
export type SignedIn = {
  readonly sessionId: string;
  readonly state: "second_factor" | "full";
  /** UTC milliseconds of the last proof of a factor. */
  readonly provedAtMs: number;
  readonly expiresAt: string;
  readonly person: {
    readonly id: number;
    readonly email: string;
    readonly name: string;
    readonly isOperator: boolean;
  };
  /** The membership that the request names; undefined if it names none, or one that this person does not have. */
  readonly membership: FoundMembership | undefined;
};

type SessionRow = AccountColumns & {
  session_id: string;
  state: "second_factor" | "full";
  proved_at: string;
  expires_at: string;
  person_id: number;
  email: string;
  name: string;
  is_operator: boolean;
  membership_id: number | null;
  membership_version: number;
  role: Role;
  permissions: string[] | null;
};

/** Changes that another process makes take effect here within this time (P41). */
const CACHED_MS = 1_000;
const SESSIONS_CACHED_MAX = 10_000;
const NOTE_USE_EVERY_MS = 60_000;
/** A session ends after so many hours without a request. `last_seen_at` may be a minute behind. */
export const IDLE_HOURS = 12;

/**
 * Finds sessions, each with the membership that its request names, and caches each result for one second. Invariant: a call after
 * `forget` never gets the result of a look-up that began before it.
 */
export class Sessions {
  readonly #db: Queryable;
  readonly #tokens: SessionTokens;
  readonly #cached = new Map<string, { atMs: number; found: Promise<SignedIn | undefined> }>();
  readonly #notedAtMs = new Map<string, number>();

  constructor(db: Queryable, tokens: SessionTokens) {
    this.#db = db;
    this.#tokens = tokens;
  }

  /** Undefined if the session is unknown or has ended, or its person is not active. Rejects when Postgres is away. */
  async find(token: string, membershipId: number, nowMs: number): Promise<SignedIn | undefined> {
    if (!this.#tokens.isOwn(token)) return undefined;
    const key = `${membershipId} ${token}`;
    const cached = this.#cached.get(key);
    if (cached !== undefined && Math.abs(nowMs - cached.atMs) < CACHED_MS)
      return await cached.found;
    const found = findSession(this.#db, token, membershipId);
    const oldest = this.#cached.keys().next();
    if (this.#cached.size >= SESSIONS_CACHED_MAX && oldest.done !== true)
      this.#cached.delete(oldest.value);
    this.#cached.delete(key);
    this.#cached.set(key, { atMs: nowMs, found });
    try {
      return await found;
    } catch (error) {
      if (this.#cached.get(key)?.found === found) this.#cached.delete(key);
      throw error;
    }
  }

  /** Call after each write of this process: the next request sees what it changed. */
  forget(): void {
    this.#cached.clear();
  }

  /** Updates `last_seen_at`, at most once a minute for each session. Rejects when Postgres is away. */
  async noteUse(sessionId: string, nowMs: number): Promise<void> {
    if (nowMs - (this.#notedAtMs.get(sessionId) ?? 0) < NOTE_USE_EVERY_MS) return;
    if (this.#notedAtMs.size >= SESSIONS_CACHED_MAX) this.#notedAtMs.clear();
    this.#notedAtMs.set(sessionId, nowMs);
    await this.#db.query({
      name: "note-use-of-session",
      text: `update session set last_seen_at = now()
             where id = $1 and last_seen_at < now() - interval '1 minute'`,
      values: [sessionId],
    });
  }
}

async function findSession(
  db: Queryable,
  token: string,
  membershipId: number,
): Promise<SignedIn | undefined> {
  const { rows } = await db.query<SessionRow>({
    name: "find-session",
    text: `select s.id as session_id, s.state, s.proved_at, s.expires_at, p.id as person_id, p.email, p.name, p.is_operator,
             m.id as membership_id, m.version as membership_version, m.role, m.permissions,
             w.id as workspace_id, w.slug, w.name as workspace_name, w.brand_name, w.timezone,
             w.currency as workspace_currency, w.status as workspace_status,
             f.id as affiliate_id, f.code as affiliate_code, f.name as affiliate_name, f.status as affiliate_status,
             f.currency as affiliate_currency, a.id as advertiser_id, a.name as advertiser_name,
             a.status as advertiser_status, a.currency as advertiser_currency
           from session s join person p on p.id = s.person_id and p.status = 'active'
           left join membership m on m.id = $2 and m.person_id = p.id and m.status = 'active'
           left join workspace w on w.id = m.workspace_id
           left join affiliate f on f.id = m.affiliate_id left join advertiser a on a.id = m.advertiser_id
           where s.secret_hash = $1 and s.expires_at > now()
             and s.last_seen_at > now() - make_interval(hours => $3)`,
    values: [hashOfToken(token), membershipId, IDLE_HOURS],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    sessionId: row.session_id,
    state: row.state,
    provedAtMs: Date.parse(row.proved_at),
    expiresAt: row.expires_at,
    person: {
      id: row.person_id,
      email: row.email,
      name: row.name,
      isOperator: row.is_operator,
    },
    membership: row.membership_id === null ? undefined : membershipIn(row, row.membership_id),
  };
}

function membershipIn(row: SessionRow, membershipId: number): FoundMembership {
  const actor = { kind: "person", id: row.person_id, name: row.name, membershipId } as const;
  return {
    principal: accountOf(row, { actor, permissions: permissionsOf(row.role, row.permissions) }),
    version: row.membership_version,
    isWorkspaceActive: row.workspace_status === "active",
  };
}
