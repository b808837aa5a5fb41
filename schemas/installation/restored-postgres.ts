import type { Queryable } from "../postgres/connect.ts";
import type { OtherStores } from "./other-stores.ts";
import { type Lifted, type LiftOptions, liftSequences, readSequences } from "./sequences.ts";
import { markClickhouse, readClickhouseMark, readPostgresMark } from "./store-marks.ts";

/**
 * For a Postgres that is, or may be, behind the other stores: raises its sequences, raises its beat above theirs, and allows it to assign
 * ids. If several processes call it, one of them does the work; returns undefined if another process is doing it, or has done it less than
 * a minute ago. @throws what the drivers throw; the next call tries again.
 */
export async function catchUpPostgres(
  db: Queryable,
  others: OtherStores,
  after: LiftOptions["after"],
): Promise<Lifted[] | undefined> {
  const { life } = await readPostgresMark(db);
  const { rowCount } = await db.query({
    name: "begin-catch-up",
    text: `update store_beat set lifted_at = now(), lifting_life = $1
           where lifted_at < now() - interval '1 minute' or lifting_life is distinct from $1
             or (verified_life <> $1 and lifted_at < now() - interval '15 seconds')`,
    values: [life],
  });
  if (rowCount === 0) return undefined;
  try {
    const lifted = await liftSequences(db, others, { after });
    await passBeat(db, others, life);
    return lifted;
  } catch (error) {
    await db.query({
      name: "give-up-catch-up",
      text: "update store_beat set lifted_at = '-infinity'",
    });
    throw error;
  }
}

/**
 * Makes the beat of Postgres the newest one, records the sequences in the other stores, and then allows ids in `life`. `life` was read before
 * the sequences were raised, so no ids are allowed in a life that began since then. @throws what the drivers throw, before it allows ids.
 */
export async function passBeat(
  db: Queryable,
  { clickhouse, streams }: OtherStores,
  life: string,
): Promise<void> {
  const recorded = await readClickhouseMark(clickhouse);
  const streamed = await streams?.read();
  await db.query({
    name: "pass-store-beat",
    text: "update store_beat set beat = greatest(beat, $1::bigint) + 1, beat_at = now(), lifted_at = now()",
    values: [Math.max(recorded?.beat ?? 0, streamed?.mark?.beat ?? 0)],
  });
  const mark = await readPostgresMark(db);
  const sequences = await readSequences(db);
  await markClickhouse(clickhouse, mark, sequences);
  const { incarnation, beat } = mark;
  await streams?.write({ incarnation, beat, sequences: Object.fromEntries(sequences) });
  await db.query({
    name: "verify-store-life",
    text: "update store_beat set verified_life = $1 where store_life() = $1",
    values: [life],
  });
}
