import type { Lanes } from "../../../schemas/events/lanes.ts";
import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { Intent } from "../rows/intent.ts";

/**
 * The longest lease that settings allow. A lease that ends later than this was written by a clock that was ahead, and counts as expired.
 */
const LEASE_MS_MAX = 300_000;

/** A lane that its owner has just taken. */
export type TakenLane = {
  readonly lane: number;
  readonly epoch: number;
  /** The last intent of its owners, as Postgres has it; null if there is none. */
  readonly intent: unknown;
  /** Whether the intent is the last owner's. After a restore of Postgres it is not (`tracker restore` raises epochs only). */
  readonly hasLastIntent: boolean;
};

/** The lane now belongs to another writer. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/**
 * One writer's ownership of one lane. The epoch protects the rows: only its owner can record an intent to insert, and no insert begins without
 * one. The lease keeps two writers from taking the lane from each other. The time of a lease counts from before the statement that granted it,
 * by a clock that never steps.
 */
export class LaneLease {
  readonly lane: number;
  readonly owner: string;
  readonly #db: Queryable;
  readonly #leaseMs: number;
  #hasLastIntent: boolean;
  #epoch: number;
  #validUntilMs: number;
  #raising = false;
  #lastIntent: Intent | undefined;
  /** The last intent as Postgres returned it, until it is read; undefined afterwards. */
  #unreadIntent: unknown;

  constructor(
    options: { readonly db: Queryable; readonly owner: string; readonly leaseMs: number },
    taken: TakenLane & { readonly askedAtMs: number },
  ) {
    this.#db = options.db;
    this.owner = options.owner;
    this.#leaseMs = options.leaseMs;
    this.lane = taken.lane;
    this.#hasLastIntent = taken.hasLastIntent;
    this.#epoch = taken.epoch;
    this.#validUntilMs = taken.askedAtMs + options.leaseMs;
    this.#unreadIntent = taken.intent;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Whether Postgres has the last intent of the lane. Not after a restore of Postgres, until this owner or a later one records an intent: a process
   * that dies before leaves that to the next owner.
   */
  get hasLastIntent(): boolean {
    return this.#hasLastIntent;
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Negative after the lease has ended. */
  get remainingMs(): number {
    return this.#validUntilMs - performance.now();
  }

  /** The last intent that an owner of the lane has recorded. @throws {ZodError} for an intent that this release cannot read */
  get lastIntent(): Intent | undefined {
    if (this.#unreadIntent !== undefined) {
      this.#lastIntent = this.#unreadIntent === null ? undefined : Intent.parse(this.#unreadIntent);
      this.#unreadIntent = undefined;
    }
    return this.#lastIntent;
  }

  /** Whether the epoch is being raised now: a renewal may find the old one or the new one. */
  get isRaising(): boolean {
    return this.#raising;
  }

  /** A renewal that was requested at `askedAtMs` for the epoch `epoch` has succeeded. */
  renewed(epoch: number, askedAtMs: number): void {
    if (epoch === this.#epoch) {
      this.#validUntilMs = Math.max(this.#validUntilMs, askedAtMs + this.#leaseMs);
    }
  }

  /**
   * Records the insert that begins next, in place of the last one, which must be decided. No insert may begin without this record: whoever
   * owns the lane later learns of every insert whose outcome may be unknown. @throws {LeaseLostError} if the lane has another owner or
   * epoch
   */
  async recordIntent(intent: Intent): Promise<void> {
    const { rowCount } = await this.#db.query({
      name: "record-lane-intent",
      text: `update lane_lease set intent = $4, home = $5, intent_epoch = epoch
             where lane = $1 and owner = $2 and epoch = $3`,
      values: [this.lane, this.owner, this.#epoch, JSON.stringify(intent), intent.home],
    });
    if (rowCount !== 1) throw new LeaseLostError(`lane ${this.lane} has another writer`);
    this.#lastIntent = intent;
    this.#hasLastIntent = true;
  }

  /** The last intent was removed from Postgres. */
  forgetIntent(): void {
    this.#lastIntent = undefined;
    this.#unreadIntent = undefined;
  }

  /**
   * Sets a new epoch for the same owner, higher than `above`, and reads the last intent. An intent whose record is still on its way to
   * Postgres will then be refused. If `above` is above the present epoch, ClickHouse knows owners that Postgres does not.
   * @throws {LeaseLostError}
   */
  async raiseEpoch(above: number): Promise<void> {
    if (above > this.#epoch) this.#hasLastIntent = false;
    const askedAtMs = performance.now();
    this.#raising = true;
    try {
      const { rows } = await this.#db.query<Pick<TakenLane, "epoch" | "intent">>({
        name: "raise-lane-epoch",
        text: `update lane_lease
               set epoch = greatest(epoch, $5) + 1,
                 intent_epoch = case when intent_epoch = epoch and $5 <= epoch then epoch + 1 else intent_epoch end,
                 expires_at = now() + $4 * interval '1 millisecond'
               where lane = $1 and owner = $2 and epoch = $3 returning epoch, intent`,
        values: [this.lane, this.owner, this.#epoch, this.#leaseMs, above],
      });
      const [row] = rows;
      if (row === undefined) throw new LeaseLostError(`lane ${this.lane} has another writer`);
      this.#epoch = row.epoch;
      this.#unreadIntent = row.intent;
      this.#validUntilMs = askedAtMs + this.#leaseMs;
    } finally {
      this.#raising = false;
    }
  }

  /** Lets any writer take the lane at once. No write of this owner may still be in progress. */
  async release(): Promise<void> {
    await this.#db.query({
      name: "release-lane",
      text: `update lane_lease set owner = '', expires_at = '-infinity'
             where lane = $1 and owner = $2 and epoch = $3`,
      values: [this.lane, this.owner, this.#epoch],
    });
  }
}

/** Lanes that are added later have their rows from the command that adds them. */
export async function ensureLanes(db: Queryable, lanes: Lanes): Promise<void> {
  await db.query({
    name: "ensure-lanes",
    text: "insert into lane_lease (lane, lanes) select unnest($1::int[]), $2 on conflict do nothing",
    values: [lanes.all, lanes.count],
  });
}

/** Frees lanes that an earlier process of this name left behind. Must be called before the first lane is taken. */
export async function freeOwnLanes(db: Queryable, owner: string): Promise<void> {
  await db.query({
    name: "free-own-lanes",
    text: "update lane_lease set owner = '', expires_at = '-infinity' where owner = $1",
    values: [owner],
  });
}

/** Registers this writer as alive. Returns the number of live writers. */
export async function countWriters(pool: Pool, owner: string, leaseMs: number): Promise<number> {
  const { rows } = await pool.query<{ writers: number }>({
    name: "count-lane-writers",
    text: `with gone as (delete from lane_writer where owner <> $1
               and (expires_at < now() or expires_at > now() + $3 * interval '1 millisecond')),
             me as (insert into lane_writer (owner, expires_at)
               values ($1, now() + $2 * interval '1 millisecond')
               on conflict (owner) do update set expires_at = excluded.expires_at)
           select count(*) + 1 as writers from lane_writer
           where owner <> $1 and expires_at between now() and now() + $3 * interval '1 millisecond'`,
    values: [owner, leaseMs, LEASE_MS_MAX],
  });
  return rows[0]?.writers ?? 1;
}

export async function forgetWriter(db: Queryable, owner: string): Promise<void> {
  await db.query({
    name: "forget-lane-writer",
    text: "delete from lane_writer where owner = $1",
    values: [owner],
  });
}

/** Renews leases. Returns the lanes that were renewed; the others are lost. */
export async function renewLeases(
  db: Queryable,
  owner: string,
  leases: readonly LaneLease[],
  leaseMs: number,
): Promise<Set<number>> {
  const { rows } = await db.query<{ lane: number }>({
    name: "renew-lanes",
    text: `update lane_lease l set expires_at = now() + $4 * interval '1 millisecond'
           from unnest($2::int[], $3::bigint[]) as held (lane, epoch)
           where l.lane = held.lane and l.epoch = held.epoch and l.owner = $1 returning l.lane`,
    values: [owner, leases.map(({ lane }) => lane), leases.map(({ epoch }) => epoch), leaseMs],
  });
  return new Set(rows.map(({ lane }) => lane));
}

/**
 * Takes up to `limit` lanes that are free or whose lease has ended. The epoch rises with the change of owner (P10).
 */
export async function takeLanes(
  db: Queryable,
  owner: string,
  options: { held: readonly number[]; lanes: readonly number[]; limit: number; leaseMs: number },
): Promise<TakenLane[]> {
  const { rows } = await db.query<TakenLane>({
    name: "take-lanes",
    text: `with free as (select lane, epoch = 0 or intent_epoch is not distinct from epoch as has_last_intent from lane_lease
             where (expires_at < now() or expires_at > now() + $6 * interval '1 millisecond')
               and lane = any($2::int[]) and not lane = any($3::int[])
             order by lane limit $4 for update skip locked)
           update lane_lease l
           set owner = $1, epoch = l.epoch + 1,
             intent_epoch = case when free.has_last_intent then l.epoch + 1 else l.intent_epoch end,
             expires_at = now() + $5 * interval '1 millisecond'
           from free where l.lane = free.lane returning l.lane, l.epoch, l.intent, free.has_last_intent as "hasLastIntent"`,
    values: [owner, options.lanes, options.held, options.limit, options.leaseMs, LEASE_MS_MAX],
  });
  return rows;
}
