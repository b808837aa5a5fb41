import { hash, randomInt } from "node:crypto";
import { type IpRanges, ipRangesOf } from "../../schemas/net/ip-ranges.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { permissionsOf, type Role } from "../operation/permissions.ts";
import { type AccountColumns, accountOf, type Principal } from "../operation/principal.ts";
import { KeyMarks } from "./key-marks.ts";

/** A key that exists and has neither expired nor been revoked. */
export type FoundKey = {
  readonly principal: Principal;
  /** Empty: any address. */
  readonly allowedFrom: IpRanges;
  readonly isWorkspaceActive: boolean;
};

type KeyRow = AccountColumns & {
  key_id: number;
  key_name: string;
  role: Role;
  permissions: string[] | null;
  ip_allowlist: string[];
  is_live: boolean;
};

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_CHARACTERS = 40;
const FORM = /^trk_live_[0-9A-Za-z]{40}$/;

/** Changes that another process makes to a key take effect here within this time. */
const CACHED_MS = 1_000;
const KEYS_CACHED_MAX = 10_000;
const NOTE_USE_EVERY_MS = 60_000;

/** A new key (G06). It is shown once; the database stores only its {@link hashOfKey}. */
export function mintKey(): string {
  const characters = Array.from(
    { length: KEY_CHARACTERS },
    () => ALPHABET[randomInt(ALPHABET.length)],
  );
  return `trk_live_${characters.join("")}`;
}

export function hashOfKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/**
 * Finds keys and caches each result for one second. Invariant: a call after `forget` never gets the result of a look-up that began
 * before it.
 */
export class ApiKeys {
  readonly #db: Queryable;
  readonly #cached = new Map<string, { atMs: number; found: Promise<FoundKey | undefined> }>();
  readonly #notedAtMs = new Map<number, number>();

  readonly #marks: KeyMarks;

  constructor(db: Queryable) {
    this.#db = db;
    this.#marks = new KeyMarks(db);
  }

  /** Like {@link find}, for a caller that has sent many unknown keys: looks up only keys that may exist. */
  async findForGuesser(key: string, nowMs: number): Promise<FoundKey | undefined> {
    if (!FORM.test(key)) return undefined;
    const mayExist = await this.#marks.mayExist(hashOfKey(key));
    return mayExist ? await this.find(key, nowMs) : undefined;
  }

  /** Undefined if the key is unknown, expired or revoked. Rejects when Postgres is away. */
  async find(key: string, nowMs: number): Promise<FoundKey | undefined> {
    if (!FORM.test(key)) return undefined;
    const cached = this.#cached.get(key);
    if (cached !== undefined && Math.abs(nowMs - cached.atMs) < CACHED_MS)
      return await cached.found;
    const found = findKey(this.#db, key);
    const oldest = this.#cached.keys().next();
    // Unknown keys are cached too, so in a flood each new one evicts one entry.
    if (this.#cached.size >= KEYS_CACHED_MAX && oldest.done !== true)
      this.#cached.delete(oldest.value);
    this.#cached.set(key, { atMs: nowMs, found });
    try {
      return await found;
    } catch (error) {
      this.#cached.delete(key);
      throw error;
    }
  }

  /** Call after each write of this process: the next request sees the changed keys and accounts. */
  forget(): void {
    this.#cached.clear();
  }

  /** Updates `last_used_at`, at most once a minute for each key. Rejects when Postgres is away. */
  async noteUse(keyId: number, nowMs: number): Promise<void> {
    if (nowMs - (this.#notedAtMs.get(keyId) ?? 0) < NOTE_USE_EVERY_MS) return;
    if (this.#notedAtMs.size >= KEYS_CACHED_MAX) this.#notedAtMs.clear();
    this.#notedAtMs.set(keyId, nowMs);
    await this.#db.query({
      name: "note-use-of-key",
      text: `update api_key set last_used_at = now()
             where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
      values: [keyId],
    });
  }
}

const FOUND = `select k.id as key_id, k.name as key_name, k.role, k.permissions, k.ip_allowlist,
    k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) as is_live,
    w.id as workspace_id, w.slug, w.name as workspace_name, w.brand_name, w.timezone,
    w.currency as workspace_currency, w.status as workspace_status,
    f.id as affiliate_id, f.code as affiliate_code, f.name as affiliate_name, f.status as affiliate_status,
    f.currency as affiliate_currency, a.id as advertiser_id, a.name as advertiser_name,
    a.status as advertiser_status, a.currency as advertiser_currency
  from api_key k join workspace w on w.id = k.workspace_id
  left join affiliate f on f.id = k.affiliate_id left join advertiser a on a.id = k.advertiser_id`;

async function findKey(db: Queryable, key: string): Promise<FoundKey | undefined> {
  const { rows } = await db.query<KeyRow>({
    name: "find-api-key",
    text: `${FOUND} where k.secret_hash = $1`,
    values: [hashOfKey(key)],
  });
  return foundKey(rows[0]);
}

/** For work that goes on after the request of a key. Undefined if the key has expired or was revoked. */
export async function findKeyById(db: Queryable, id: number): Promise<FoundKey | undefined> {
  const { rows } = await db.query<KeyRow>({
    name: "find-api-key-by-id",
    text: `${FOUND} where k.id = $1`,
    values: [id],
  });
  return foundKey(rows[0]);
}

function foundKey(row: KeyRow | undefined): FoundKey | undefined {
  if (row === undefined || !row.is_live) return undefined;
  return {
    principal: accountOf(row, {
      actor: { kind: "key", id: row.key_id, name: row.key_name },
      permissions: permissionsOf(row.role, row.permissions),
    }),
    allowedFrom: ipRangesOf(row.ip_allowlist),
    isWorkspaceActive: row.workspace_status === "active",
  };
}
