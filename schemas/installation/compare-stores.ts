import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { OtherStores } from "./other-stores.ts";
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
import { areOutdated, NO_STREAM_MARK, type StreamMarkRead } from "./stream-marks.ts";

/** The result of comparing Postgres with ClickHouse and the streams, and what was done about it. */
export type Comparison =
  | { readonly found: "equal"; readonly own: PostgresMark; readonly streams: StreamMarkRead }
  /** The stores belong to two installations, or `tracker restored` was not run. Nothing was changed. */
  | {
      readonly found: "strangers";
      readonly own: PostgresMark;
      readonly other: "ClickHouse" | "streams";
      readonly otherIncarnation: string;
    }
  /** Postgres lacks beats that ClickHouse or the streams have. */
  | ({ readonly found: "postgres-went-back" } & CaughtUp)
  /** Postgres has a new life. It may have lost changes since the last beat, which nothing can show. */
  | ({ readonly found: "postgres-started-anew" } & CaughtUp)
  /** Another process is raising the sequences. */
  | { readonly found: "being-caught-up" }
  /** Postgres has a new life and JetStream does not answer. Ids wait for it, 15 s at most. */
  | { readonly found: "waits-for-streams" };
type CaughtUp = {
  readonly own: PostgresMark;
  /** The newest beat that another store has recorded. */
  readonly recorded: { readonly beat: number; readonly at: string | undefined } | undefined;
  readonly lifted: readonly Lifted[];
};

/**
 * Compares the marks in Postgres, ClickHouse and the streams, and allows Postgres to assign ids as soon as it cannot assign one twice (P38).
 * Without `streams` it compares the two databases only. Safe to run twice and in many processes at once. @throws what the drivers throw.
 */
export async function compareStores(
  db: Queryable,
  clickhouse: Clickhouse,
  streams?: OtherStores["streams"],
): Promise<Comparison> {
  // Read the other stores first: their marks are written after Postgres has counted, so they are never ahead of the mark that is read next.
  const recorded = await readClickhouseMark(clickhouse);
  const streamed = streams === undefined ? NO_STREAM_MARK : await streams.read();
  const own = await readPostgresMark(db);
  const stranger = strangerOf(own, recorded, streamed.ofStreams);
  if (stranger !== undefined) return { found: "strangers", own, ...stranger };
  const isOpen = own.verifiedLife === own.life;
  if (!isOpen && streamed.is === "silent") return { found: "waits-for-streams" };
  const others = { clickhouse, streams: streamed.is === "known" ? streams : undefined };
  const newest = newestOf(recorded, streamed.mark);
  if (newest !== undefined && own.beat < newest.beat) {
    return await caughtUp(db, others, { found: "postgres-went-back", own, recorded: newest });
  }
  if (isOpen) {
    if (recorded === undefined) await markClickhouse(clickhouse, own, await readSequences(db));
    return { found: "equal", own, streams: streamed };
  }
  if (own.verifiedLife === null || isNothingLost(own, recorded)) {
    await passBeat(db, others, own.life);
    return { found: "equal", own: await readPostgresMark(db), streams: streamed };
  }
  return await caughtUp(db, others, { found: "postgres-started-anew", own, recorded: newest });
}

/** After a clean stop: Postgres has assigned nothing since ClickHouse recorded it. */
function isNothingLost(own: PostgresMark, recorded: ClickhouseMark | undefined): boolean {
  return recorded?.isClosed === true && recorded.beat === own.beat;
}

function strangerOf(
  own: PostgresMark,
  recorded: ClickhouseMark | undefined,
  ofStreams: StreamMarkRead["ofStreams"],
): { readonly other: "ClickHouse" | "streams"; readonly otherIncarnation: string } | undefined {
  const isOther = (mark: { readonly incarnation: string } | undefined): boolean =>
    mark !== undefined && mark.incarnation !== own.incarnation;
  if (recorded !== undefined && isOther(recorded)) {
    return { other: "ClickHouse", otherIncarnation: recorded.incarnation };
  }
  const stranger = ofStreams.find((mark) => isOther(mark));
  return stranger && { other: "streams", otherIncarnation: stranger.incarnation };
}

function newestOf(
  recorded: ClickhouseMark | undefined,
  streamed: { readonly beat: number } | undefined,
): CaughtUp["recorded"] {
  if (streamed === undefined || (recorded?.beat ?? -1) >= streamed.beat) return recorded;
  return { beat: streamed.beat, at: undefined };
}

/** Writes the mark of Postgres into the streams if theirs is outdated. @throws while JetStream does not answer. */
export async function refreshStreamMark(
  db: Queryable,
  streams: NonNullable<OtherStores["streams"]>,
  known: StreamMarkRead,
): Promise<void> {
  if (known.is !== "known") return;
  const { incarnation, beat } = await readPostgresMark(db);
  const now = { incarnation, beat, sequences: Object.fromEntries(await readSequences(db)) };
  if (areOutdated(known, now)) await streams.write(now);
}

async function caughtUp(
  db: Queryable,
  others: OtherStores,
  seen: Omit<Extract<Comparison, CaughtUp>, "lifted">,
): Promise<Comparison> {
  const isRestored = seen.found === "postgres-went-back" || seen.recorded === undefined;
  const lifted = await catchUpPostgres(db, others, isRestored ? "restore" : "restart");
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
