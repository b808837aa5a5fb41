import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A key that another process has made is known here after this long at the latest. */
const FRESH_MS = 1_000;
const ROWS_A_STATEMENT = 10_000;
/** Some 40 MB. With more keys every key may exist, and Postgres is asked for it. */
const KEYS_MAX = 1_000_000;
/** IDs are given out before they are committed: the newest ones are read again. */
const OVERLAP = 1_000;
const MARK_BYTES = 6;

/**
 * The beginnings of the hashes of all keys, read when they are needed and then a part at a time. They tell a key that surely does not
 * exist from one that may, with one small statement a second instead of one a key. Revoked keys stay in: they may exist, and are
 * looked up.
 */
export class KeyMarks {
  readonly #db: Queryable;
  readonly #marks = new Set<number>();
  #lastId = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** False for a key that no row has had for a second. Rejects when Postgres is away. */
  async mayExist(hash: Buffer): Promise<boolean> {
    if (performance.now() - this.#readAtMs >= FRESH_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#marks.size > KEYS_MAX || this.#marks.has(markOf(hash));
  }

  async #read(): Promise<void> {
    const startedAtMs = performance.now();
    let afterId = Math.max(0, this.#lastId - OVERLAP);
    while (this.#marks.size <= KEYS_MAX) {
      const { rows } = await this.#db.query<{ id: number; secret_hash: Buffer }>({
        name: "read-key-marks",
        text: "select id, secret_hash from api_key where id > $1 order by id limit $2",
        values: [afterId, ROWS_A_STATEMENT],
      });
      for (const { secret_hash } of rows) this.#marks.add(markOf(secret_hash));
      afterId = rows.at(-1)?.id ?? afterId;
      if (rows.length < ROWS_A_STATEMENT) break;
    }
    this.#lastId = Math.max(this.#lastId, afterId);
    this.#readAtMs = startedAtMs;
  }
}

function markOf(hash: Buffer): number {
  return hash.readUIntBE(0, MARK_BYTES);
}
