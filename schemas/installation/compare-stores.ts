import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { catchUpPostgres, passBeat } from "./restored-postgres.ts";
import { type Lifted, readSequences } from "./sequences.ts";
import {
  CLOSED_LIFE,
  type ClickhouseMark,
  markClickhouse,
  type PostgresMark,
  readClickhouseMark,
  readPostgresMark,
} from "./store-marks.ts";

/** The result of comparing Postgres with ClickHouse, and what was done about it. */
export type Comparison =
  | { readonly found: "equal"; readonly own: PostgresMark }
  /** The stores belong to two installations, or `tracker restored` was not run. Nothing was changed. */
  | { readonly found: "strangers"; readonly own: PostgresMark; readonly recorded: ClickhouseMark }
  /** Postgres lacks beats that ClickHouse has. */
  | ({ readonly found: "postgres-went-back" } & CaughtUp)
  /** Postgres has a new life. It may have lost changes since the last beat, which nothing can show. */
  | ({ readonly found: "postgres-started-anew" } & CaughtUp)
  /** Another process is raising the sequences. */
  | { readonly found: "being-caught-up" };
type CaughtUp = {
  readonly own: PostgresMark;
  readonly recorded: ClickhouseMark | undefined;
  readonly lifted: readonly Lifted[];
};

/**
 * Compares the marks in Postgres and ClickHouse, and allows Postgres to assign ids as soon as it cannot assign one twice (P38). Safe to run
 * twice and in many processes at once. @throws what the drivers throw.
 */
export async function compareStores(db: Queryable, clickhouse: Clickhouse): Promise<Comparison> {
  // Read ClickHouse first: its mark is written after Postgres has counted, so it is never ahead of the mark that is read next.
  const recorded = await readClickhouseMark(clickhouse);
  const own = await readPostgresMark(db);
  if (recorded !== undefined && recorded.incarnation !== own.incarnation) {
    return { found: "strangers", own, recorded };
  }
  if (recorded !== undefined && own.beat < recorded.beat) {
    return await caughtUp(db, clickhouse, { found: "postgres-went-back", own, recorded });
  }
  if (own.verifiedLife === own.life) {
    if (recorded === undefined) await markClickhouse(clickhouse, own, await readSequences(db));
    return { found: "equal", own };
  }
  const nothingIsLost = recorded?.isClosed === true && recorded.beat === own.beat;
  if (own.verifiedLife === null || nothingIsLost) {
    await passBeat(db, clickhouse, own.life);
    return { found: "equal", own: await readPostgresMark(db) };
  }
  return await caughtUp(db, clickhouse, { found: "postgres-started-anew", own, recorded });
}

async function caughtUp(
  db: Queryable,
  clickhouse: Clickhouse,
  seen: Omit<Extract<Comparison, CaughtUp>, "lifted">,
): Promise<Comparison> {
  const isRestored = seen.found === "postgres-went-back" || seen.recorded === undefined;
  const lifted = await catchUpPostgres(db, clickhouse, isRestored ? "restore" : "restart");
  return lifted === undefined ? { found: "being-caught-up" } : { ...seen, lifted };
}

/**
 * Records in both stores that the installation has stopped cleanly, so that the next start need not skip ids. Does nothing while a process
 * of another kind than `applicationName` is connected to Postgres. If the process dies in between, nothing is recorded and the next start
 * raises the sequences. @throws what the drivers throw.
 */
export async function closeStores(
  db: Queryable,
  clickhouse: Clickhouse,
  applicationName: string,
): Promise<void> {
  const { rowCount } = await db.query({
    name: "close-stores",
    text: `update store_beat set beat = beat + 1, beat_at = now(), verified_life = $2
           where verified_life = store_life() and not exists (
             select from pg_stat_activity
             where datname = current_database() and application_name like 'tracker %' and application_name <> $1)`,
    values: [applicationName, CLOSED_LIFE],
  });
  if (rowCount === 0) return;
  await markClickhouse(clickhouse, await readPostgresMark(db), await readSequences(db), true);
}
