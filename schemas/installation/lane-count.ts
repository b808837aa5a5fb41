import { LANE_COUNTS, Lanes } from "../events/lanes.ts";
import type { Pool, Queryable } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";

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

export type RaisedLanes = { readonly from: number; readonly to: number };

/**
 * Adds lanes to an installation that may be running. Each new lane waits until the lane of its offers has stored their clicks and left them
 * to it (processors/clicks/lane/lane-split.ts). Safe to run twice.
 *
 * @throws {LanesInUseError} with one sentence for fewer lanes, and while lanes that were added earlier still wait.
 */
export async function raiseLanes(pool: Pool, to: number): Promise<RaisedLanes> {
  return await inTransaction(pool, async (db) => {
    await db.query({ text: "lock table lane_lease in share row exclusive mode" });
    const { count: from, clicks } = await readLanes(db);
    if (to === from) return { from, to };
    if (to < from)
      throw new LanesInUseError(`The installation has ${from} click lanes. Lanes are only added.`);
    const waiting = await readWaitingLanes(db, from);
    if (waiting.length > 0) {
      throw new LanesInUseError(
        `Nothing was changed: lanes ${waiting.join(", ")} still wait for their clicks of before the last change. See \`tracker lanes\`.`,
      );
    }
    await db.query({
      name: "note-lanes-before",
      text: "insert into lane_lease (lane, lanes) select unnest($1::int[]), $2 on conflict do nothing",
      values: [clicks, from],
    });
    await db.query({
      name: "add-lanes",
      text: `insert into lane_lease (lane, lanes, parent)
             select lane, 0, lane % $1 from generate_series($1::int, $2::int - 1) lane`,
      values: [from, to],
    });
    await setLanes(db, to);
    return { from, to };
  });
}

/**
 * For a Postgres that was restored to a time before lanes were added: ClickHouse has clicks up to `highestLane`. The lanes have their offers
 * at once, because they had them before, and find all earlier clicks. Safe to run twice.
 */
export async function restoreLanes(pool: Pool, highestLane: number): Promise<RaisedLanes> {
  return await inTransaction(pool, async (db) => {
    await db.query({ text: "lock table lane_lease in share row exclusive mode" });
    const { count: from } = await readLanes(db);
    const to = LANE_COUNTS.find((count) => count > highestLane) ?? from;
    if (to <= from) return { from, to: from };
    const added = new Lanes(to).clicks.slice(from);
    const parents = added.map(
      (lane) => lane % (LANE_COUNTS.findLast((count) => count <= lane) ?? from),
    );
    await db.query({
      name: "restore-lanes",
      text: `insert into lane_lease (lane, lanes, parent)
             select lane, $3, parent from unnest($1::int[], $2::int[]) as added (lane, parent)
             on conflict (lane) do update set parent = excluded.parent`,
      values: [added, parents, to],
    });
    await giveAllOffers(db, to);
    await setLanes(db, to);
    return { from, to };
  });
}

/** Each lane has the offers that `count` lanes assign to it, without waiting for another lane. */
export async function giveAllOffers(db: Queryable, count: number): Promise<void> {
  await db.query({
    name: "give-lanes-all-offers",
    text: "update lane_lease set lanes = $1 where lane < 100",
    values: [count],
  });
}

/** Click lanes that do not have their offers yet, or still have the offers of a lane that was added. */
export async function readWaitingLanes(db: Queryable, count: number): Promise<number[]> {
  const { rows } = await db.query<{ lane: number }>({
    name: "read-waiting-lanes",
    text: "select lane from lane_lease where lane < 100 and lanes <> $1 order by lane",
    values: [count],
  });
  return rows.map(({ lane }) => lane);
}

export async function setLanes(db: Queryable, count: number): Promise<void> {
  await db.query({
    name: "set-installation-lanes",
    text: "update installation set lanes = $1",
    values: [count],
  });
}

function inUse(count: number, wanted: number): string {
  const head = `The installation works with ${count} click lanes, and CLICK_LANES is ${wanted}.`;
  const advice = `Use CLICK_LANES=${count}, or unset it.`;
  return `${head} The number is part of every click id, so \`migrate\` chooses it only before the first process runs; later \`tracker lanes raise\` adds lanes. ${advice}`;
}
