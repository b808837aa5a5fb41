import { expect, test } from "vitest";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { FeedWorld, offer } from "./feed-world.ts";

const world = await forThisFile(FeedWorld.open());

/** More than a page of changes in one transaction. */
const MANY = 6_000;

/** Counts statements by name. Those for which `refuse` answers true fail. */
function countedDb(refuse: (name: string) => boolean = () => false): {
  readonly db: Queryable;
  readonly count: (name: string) => number;
} {
  const counts = new Map<string, number>();
  const db: Queryable = {
    query: async (statement) => {
      const name = statement.name ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (refuse(name)) throw new Error("the connection broke");
      return await world.pool.query(statement);
    },
  };
  return { db, count: (name) => counts.get(name) ?? 0 };
}

test("without a change the catalog is not read: one look-up in the log says so (P41)", async () => {
  const { db, count } = countedDb();
  const { feed, catalog, refresh } = await world.follow(undefined, db);
  const readAtStart = count("read-catalog-changes");
  const looked = count("read-newest-catalog-mark");
  for (let round = 0; round < 3; round += 1) expect(await refresh()).toBe(true);
  expect(count("read-newest-catalog-mark")).toBeGreaterThanOrEqual(looked + 3);
  expect(count("read-catalog-changes")).toBe(readAtStart);

  await world.change(offer("LATER", "later"));
  expect(await refresh()).toBe(true);
  expect([...catalog.offers.values()].map(({ code }) => code)).toContain("LATER");
  await feed.close();
});

test("a read that breaks in the middle of a transaction goes on where it was, also after a restart (P41)", async () => {
  let isArmed = false;
  let broken = 0;
  const { db } = countedDb((name) => {
    if (!isArmed || name !== "read-catalog-changes") return false;
    broken += 1;
    // The second page of the first read, and everything until the process has ended.
    return broken >= 2;
  });
  const first = await world.follow("broken", db);
  const before = first.catalog.offers.size;
  isArmed = true;
  await world.change(
    `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency)
     select 1, 1, 'M' || n, 'Many', 'https://shop.example/m', 'USD' from generate_series(1, ${MANY}) n`,
  );
  expect(await first.refresh()).toBe(false);
  expect(broken).toBeGreaterThanOrEqual(2);
  const between = first.catalog.offers.size;
  expect(between).toBeGreaterThan(before);
  expect(between).toBeLessThan(before + MANY);
  await first.feed.close();

  const second = await world.follow("broken");
  expect(second.catalog.offers.size).toBe(before + MANY);
  isArmed = false;
  expect(await first.refresh()).toBe(true);
  expect(first.catalog.offers.size).toBe(before + MANY);
});
