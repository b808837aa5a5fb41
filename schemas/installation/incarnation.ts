import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { compareStores, refreshStreamMark } from "./compare-stores.ts";
import type { OtherStores } from "./other-stores.ts";
import { passBeat } from "./restored-postgres.ts";
import { readPostgresMark } from "./store-marks.ts";

/**
 * Writes the incarnation of Postgres into a ClickHouse and into streams that have none. Returns whether the three belong together: false for
 * stores of two installations, and if `tracker restored` was not run after a restore. Safe to run twice.
 */
export async function joinStores(
  db: Queryable,
  clickhouse: Clickhouse,
  streams?: OtherStores["streams"],
): Promise<boolean> {
  const comparison = await compareStores(db, clickhouse, streams);
  if (streams !== undefined && comparison.found === "equal") {
    await refreshStreamMark(db, streams, await streams.read());
  }
  return comparison.found !== "strangers";
}

/**
 * Gives the stores a new incarnation, Postgres first. If the process dies in between, they do not match until the next call. `life` is the
 * life of Postgres when its sequences were raised.
 */
export async function renewIncarnation(
  db: Queryable,
  others: OtherStores,
  life: string,
): Promise<string> {
  await db.query({
    name: "renew-incarnation",
    text: "update installation set incarnation = gen_random_uuid()",
  });
  await passBeat(db, others, life);
  return (await readPostgresMark(db)).incarnation;
}
