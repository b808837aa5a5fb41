import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { RateState } from "../operation/operation.ts";

export type CountedRequest = RateState & { readonly isOver: boolean };

type Waiting = {
  readonly holder: string;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
};
type Position = { readonly position: number; readonly resetSec: number };

const WINDOW_SEC = 60;
const PURGE_ROWS_MAX = 10_000;

/**
 * Counts requests in fixed minutes of the database's clock (G11). The count is exact over all processes (P32): each request gets a
 * number of its own within the window. Requests that arrive while a statement is under way share the next one, so a busy process
 * sends one statement for many requests.
 */
export class RateLimiter {
  readonly #db: Queryable;
  readonly #limit: number;
  #waiting: Waiting[] = [];
  #isCounting = false;

  constructor(db: Queryable, limitPerMinute: number) {
    this.#db = db;
    this.#limit = limitPerMinute;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Rejects when Postgres is away. */
  async count(holder: string): Promise<CountedRequest> {
    const { position, resetSec } = await new Promise<Position>((resolve, reject) => {
      this.#waiting.push({ holder, resolve, reject });
      if (!this.#isCounting) void this.#countAll();
    });
    return {
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - position),
      resetSec,
      isOver: position > this.#limit,
    };
  }

  async #countAll(): Promise<void> {
    this.#isCounting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await countBatch(this.#db, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isCounting = false;
  }
}

/**
 * Deletes windows that have ended. A window that a request has locked to count in it is deleted later. Called from time to time so that
 * rows for strangers' addresses do not accumulate.
 */
export async function purgeRateWindows(db: Queryable): Promise<void> {
  await db.query({
    name: "purge-rate-windows",
    text: `delete from rate_window where holder in (
             select holder from rate_window where window_start < now() - interval '10 minutes'
             limit $1 for update skip locked)`,
    values: [PURGE_ROWS_MAX],
  });
}

async function countBatch(db: Queryable, batch: readonly Waiting[]): Promise<void> {
  const byHolder = new Map<string, Waiting[]>();
  for (const waiting of batch) {
    const others = byHolder.get(waiting.holder);
    if (others === undefined) byHolder.set(waiting.holder, [waiting]);
    else others.push(waiting);
  }
  const { rows } = await db.query<{ holder: string; used: number; reset_sec: number }>({
    name: "count-requests",
    // Rows are locked in the order of holders. A statement that waited past the end of its minute counts in the newer one. A window
    // more than one minute ahead was written by a clock that has since been set back, so it is replaced.
    text: `insert into rate_window as w (holder, window_start, used)
           select a.holder, date_trunc('minute', now(), 'UTC'), a.requests
           from unnest($1::text[], $2::integer[]) as a(holder, requests) order by a.holder
           on conflict (holder) do update set
             used = case when w.window_start - excluded.window_start between interval '0' and interval '1 minute'
                         then least(w.used, 1000000000) + excluded.used else excluded.used end,
             window_start = case when w.window_start - excluded.window_start between interval '0' and interval '1 minute'
                         then w.window_start else excluded.window_start end
           returning holder, used,
             ceil(extract(epoch from w.window_start + interval '1 minute' - clock_timestamp()))::integer as reset_sec`,
    values: [[...byHolder.keys()], [...byHolder.values()].map((all) => all.length)],
  });
  for (const row of rows) {
    const all = byHolder.get(row.holder) ?? [];
    const resetSec = Math.min(WINDOW_SEC, Math.max(1, row.reset_sec));
    for (const [index, { resolve }] of all.entries()) {
      resolve({ position: row.used - all.length + index + 1, resetSec });
    }
  }
}
