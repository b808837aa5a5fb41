import { DEFAULT_LANE_COUNT, Lanes } from "../events/lanes.ts";
import type { Pool, Queryable } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";

/** The migration that added the number. Releases before it know four lanes only. */
const FIRST_READER = 50;

/** The number of lanes is already in use, so `migrate` does not change it. */
export class LanesInUseError extends Error {
  override readonly name = "LanesInUseError";
}

/** The lanes that the installation has now. @throws if the table has lost its only row. */
export async function readLanes(db: Queryable): Promise<Lanes> {
  const { rows } = await db.query<{ lanes: number }>({
    name: "read-installation-lanes",
    text: "select lanes from installation",
  });
  const [row] = rows;
  if (row === undefined)
    throw new Error("the table installation has lost its only row: restore a backup");
  return new Lanes(row.lanes);
}

/**
 * Gives a new installation this number of click lanes. Safe to run twice. An ingress enters its producer number before it reads the catalog,
 * so whoever has read another number has left a row that this finds.
 *
 * @throws {LanesInUseError} with one sentence for an installation that works with another number.
 */
export async function chooseLanes(pool: Pool, wanted: number): Promise<void> {
  await inTransaction(pool, async (db) => {
    await db.query({ text: "lock table ingress_producer, lane_lease in share row exclusive mode" });
    const { count } = await readLanes(db);
    if (count === wanted) return;
    const { rows } = await db.query<{ used: boolean }>({
      name: "are-lanes-used",
      text: "select exists(select from ingress_producer) or exists(select from lane_lease) as used",
    });
    if (rows[0]?.used !== false) throw new LanesInUseError(inUse(count, wanted));
    await setLanes(db, wanted);
  });
}

/** Releases that know four lanes only refuse the schema afterwards: their ingress would put clicks into other lanes. */
export async function setLanes(db: Queryable, count: number): Promise<void> {
  await db.query({
    name: "set-installation-lanes",
    text: "update installation set lanes = $1",
    values: [count],
  });
  if (count === DEFAULT_LANE_COUNT) return;
  await db.query({
    name: "refuse-releases-of-four-lanes",
    text: "update schema_migration set oldest_reader = greatest(oldest_reader, number) where number = $1",
    values: [FIRST_READER],
  });
}

function inUse(count: number, wanted: number): string {
  const head = `The installation works with ${count} click lanes, and CLICK_LANES is ${wanted}.`;
  const advice = `Set CLICK_LANES=${count}, or unset it.`;
  return `${head} The number is part of every click id, so \`migrate\` chooses it only before the first process runs. ${advice}`;
}
