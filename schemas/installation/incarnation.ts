import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { passBeat } from "./restored-postgres.ts";
import { readSequences } from "./sequences.ts";
import { markClickhouse, readClickhouseMark, readPostgresMark } from "./store-marks.ts";

/**
 * Writes the incarnation of Postgres into a ClickHouse that has none. Answers whether the two belong together: false for stores of
 * two installations, and where `tracker restored` was not run after a restore. Safe to run twice.
 */
export async function joinStores(db: Queryable, clickhouse: Clickhouse): Promise<boolean> {
  const own = await readPostgresMark(db);
  const told = await readClickhouseMark(clickhouse);
  if (told === undefined) await markClickhouse(clickhouse, own, await readSequences(db));
  return told === undefined || told.incarnation === own.incarnation;
}

/** Gives both stores a new incarnation, Postgres first: dying in between leaves a mismatch, and the next call ends it. */
export async function renewIncarnation(db: Queryable, clickhouse: Clickhouse): Promise<string> {
  await db.query({
    name: "renew-incarnation",
    text: "update installation set incarnation = gen_random_uuid()",
  });
  await passBeat(db, clickhouse);
  return (await readPostgresMark(db)).incarnation;
}
