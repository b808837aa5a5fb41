import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { type Lifted, liftSequences, readSequences } from "./sequences.ts";
import { markClickhouse, readClickhouseMark, readPostgresMark } from "./store-marks.ts";

/**
 * For a Postgres that is behind ClickHouse: lifts its sequences, and its beat above the one that ClickHouse knows. Any number of
 * processes may notice at once, and one of them does it within a minute; answers undefined when another one has. @throws what
 * the drivers throw: the next call does it again.
 */
export async function catchUpPostgres(
  db: Queryable,
  clickhouse: Clickhouse,
): Promise<Lifted[] | undefined> {
  const { rowCount } = await db.query({
    name: "begin-catch-up",
    text: "update store_beat set lifted_at = now() where lifted_at < now() - interval '1 minute'",
  });
  if (rowCount === 0) return undefined;
  try {
    const lifted = await liftSequences(db, clickhouse);
    await passBeat(db, clickhouse);
    return lifted;
  } catch (error) {
    await db.query({
      name: "give-up-catch-up",
      text: "update store_beat set lifted_at = '-infinity'",
    });
    throw error;
  }
}

/** Makes the beat of Postgres the newest one, and tells ClickHouse where the sequences stand now. */
export async function passBeat(db: Queryable, clickhouse: Clickhouse): Promise<void> {
  const told = await readClickhouseMark(clickhouse);
  await db.query({
    name: "pass-store-beat",
    text: "update store_beat set beat = greatest(beat, $1::bigint) + 1, beat_at = now(), lifted_at = now()",
    values: [told?.beat ?? 0],
  });
  await markClickhouse(clickhouse, await readPostgresMark(db), await readSequences(db));
}
