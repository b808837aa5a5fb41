import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A key that another process created is known here within this time. */
const FRESH_MS = 1_000;
const ROWS_PER_STATEMENT = 10_000;
/** About 40 MB. With more keys, any key may exist, so each is looked up in Postgres. */
const KEYS_MAX = 1_000_000;
/** An ID is assigned before its row is committed, so the newest IDs are read again. */
const OVERLAP = 1_000;
const MARK_BYTES = 6;

/**
 * Prefixes of the hashes of all keys, loaded on first use and then extended. They separate keys that cannot exist from keys that
 * may, at the cost of one small statement a second instead of one for each key. Revoked keys stay in the set and are still looked
 * up.
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

  /** False if no stored key matched as of at most one second ago. Rejects when Postgres is away. */
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
        values: [afterId, ROWS_PER_STATEMENT],
      });
      for (const { secret_hash } of rows) this.#marks.add(markOf(secret_hash));
      afterId = rows.at(-1)?.id ?? afterId;
      if (rows.length < ROWS_PER_STATEMENT) break;
    }
    this.#lastId = Math.max(this.#lastId, afterId);
    this.#readAtMs = startedAtMs;
  }
}

function markOf(hash: Buffer): number {
  return hash.readUIntBE(0, MARK_BYTES);
}
