import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { compareStores } from "./compare-stores.ts";
import { passBeat } from "./restored-postgres.ts";
import { readPostgresMark } from "./store-marks.ts";

/**
 * Writes the incarnation of Postgres into a ClickHouse that has none. Returns whether the two belong together: false for stores of two
 * installations, and if `tracker restored` was not run after a restore. Safe to run twice.
 */
export async function joinStores(db: Queryable, clickhouse: Clickhouse): Promise<boolean> {
  return (await compareStores(db, clickhouse)).found !== "strangers";
}

/**
 * Gives both stores a new incarnation, Postgres first. If the process dies in between, they do not match until the next call. `life` is the
 * life of Postgres when its sequences were raised.
 */
export async function renewIncarnation(
  db: Queryable,
  clickhouse: Clickhouse,
  life: string,
): Promise<string> {
  await db.query({
    name: "renew-incarnation",
    text: "update installation set incarnation = gen_random_uuid()",
  });
  await passBeat(db, clickhouse, life);
  return (await readPostgresMark(db)).incarnation;
}
