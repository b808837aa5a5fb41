import { readFile, writeFile } from "node:fs/promises";
import type pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forgetOldRows } from "../../../../processors/schedule/retention.ts";
import { Catalog } from "../../../../schemas/catalog/catalog.ts";
import { DiskCopy } from "../../../../schemas/catalog-feed/disk-copy.ts";
import type { Statement } from "../../../../schemas/postgres/connect.ts";
import {
  contentOf,
  FeedWorld,
  type Follower,
  offer,
  pointTo,
} from "../../../integration/catalog/feed-world.ts";

// A restore copies databases, which takes seconds on a loaded machine.
vi.setConfig({ testTimeout: 120_000 });

let world: FeedWorld;
beforeEach(async () => {
  world = await FeedWorld.open();
});
afterEach(async () => {
  await world.close();
});

/** A process that keeps running, and one that has ended and left its copy. */
async function runningAndEnded(): Promise<{ running: Follower; restart: () => Promise<Follower> }> {
  const running = await world.follow("running");
  const ended = await world.follow("ended");
  await ended.feed.close();
  return { running, restart: () => world.follow("ended") };
}

const CHANGES = [
  pointTo("A", "lost"),
  offer("C", "lost"),
  "delete from offer_access where offer_id = 2",
];
const AGED = "update catalog_log set logged_at = now() - interval '8 days'";
/** Far more versions than the restore removes. */
const MANY_CHANGES = Array.from({ length: 60 }, (_, i) => pointTo("B", `new-${i}`));

test.each([
  ["fewer", [pointTo("B", "new-59")]],
  ["more", MANY_CHANGES],
  ["no", [] as string[]],
])(
  "a restored Postgres is followed at once, with %s changes after the restore (#6, G206)",
  async (_, changes) => {
    const backup = await world.backUp();
    await world.change(...CHANGES);
    const { running, restart } = await runningAndEnded();
    expect(contentOf(running.catalog)).toEqual({
      A: "https://shop.example/lost approved",
      B: "https://shop.example/b -",
      C: "https://shop.example/lost -",
    });
    const before = running.catalog.version;
    await world.restore(backup, ...changes);
    const restarted = await restart();
    for (const follower of [running, restarted]) {
      expect(await follower.refresh()).toBe(true);
      expect(contentOf(follower.catalog)).toEqual({
        A: "https://shop.example/a approved",
        B: `https://shop.example/${changes.length > 0 ? "new-59" : "b"} pending`,
      });
      expect(follower.catalog.version > before).toBe(changes.length > 10);
      expect(follower.metric("catalog_rewinds_total")).toBe(1);
      expect(follower.metric("catalog_version")).toBe(follower.catalog.version);
      expect(follower.catalog.generation).toBe(1);
    }
    await world.change(pointTo("A", "after"));
    for (const follower of [running, restarted]) {
      await follower.refresh();
      expect(contentOf(follower.catalog)["A"]).toBe("https://shop.example/after approved");
      expect(follower.metric("catalog_rewinds_total")).toBe(1);
    }
  },
);

test("the copy of a process that noticed the restore has the restored history (#6)", async () => {
  const backup = await world.backUp();
  await world.change(...CHANGES);
  const running = await world.follow("copy");
  await world.restore(backup, ...MANY_CHANGES);
  await running.refresh();
  await running.feed.close();
  const restarted = await world.follow("copy");
  expect(contentOf(restarted.catalog)).toEqual(contentOf(running.catalog));
  expect(restarted.metric("catalog_rewinds_total")).toBe(0);
});

test("a copy of the previous release, without a mark, is read again and hides no change (#6)", async () => {
  const first = await world.follow("copy");
  await first.feed.close();
  const path = world.copyPath("copy");
  await removePosition(path);
  const backup = await world.backUp();
  await world.restore(
    backup,
    pointTo("A", "elsewhere"),
    "delete from offer_access where offer_id = 1",
  );
  const second = await world.follow("copy");
  expect(contentOf(second.catalog)["A"]).toBe("https://shop.example/elsewhere -");
  expect(second.metric("catalog_rewinds_total")).toBe(0);
  await second.feed.close();
  expect(await readFile(path, "utf8")).toContain("catalog_position");
});

test("a process that ended before the oldest mark reads everything once and misses nothing (#6)", async () => {
  const { running, restart } = await runningAndEnded();
  await world.change(...CHANGES, AGED);
  await world.change(pointTo("B", "today"));
  await running.refresh();
  await forgetOldRows(world.pool, new AbortController().signal);
  const { rows } = await world.pool.query<{ marks: number }>({
    text: "select count(*)::integer as marks from catalog_log",
  });
  // The newest of the old marks, and today's.
  expect(rows[0]?.marks).toBe(2);
  const restarted = await restart();
  for (const { catalog, refresh, metric } of [running, restarted]) {
    expect(await refresh()).toBe(true);
    expect(contentOf(catalog)).toEqual({
      A: "https://shop.example/lost approved",
      B: "https://shop.example/today -",
      C: "https://shop.example/lost -",
    });
    expect(metric("catalog_rewinds_total")).toBe(0);
    // Reading everything again reports changes only, and there are none.
    const { revision } = catalog;
    await refresh();
    expect(catalog.revision).toBe(revision);
  }
});

test("deletions older than every mark are forgotten, and a process from before takes them over (#6)", async () => {
  await world.change(coupons("old"));
  const { running, restart } = await runningAndEnded();
  await world.change("delete from coupon where code = 'old1'", pointTo("B", "new"), AGED);
  await running.refresh();
  await world.change("delete from coupon where code = 'old2'");
  await forgetOldRows(world.pool, new AbortController().signal);
  const { rows } = await world.pool.query({ text: "select id from catalog_tombstone" });
  expect(rows).toEqual([{ id: "2" }]);
  for (const { catalog, refresh } of [running, await restart()]) {
    expect(await refresh()).toBe(true);
    const codes = ["old1", "old2", "old3"].filter((code) => catalog.couponByCode(1, code));
    expect(codes).toEqual(["old3"]);
  }
});

test("a copy that is being saved when its process ends is whole, with the last change (#6)", async () => {
  for (let n = 0; n < 9; n += 1) await world.change(coupons(`c${n}-`));
  const { feed } = await world.follow("copy");
  const saving = feed.close();
  await world.change("delete from coupon where id <= 10");
  await feed.refresh();
  await feed.close();
  await saving;
  const catalog = new Catalog();
  const copy = await new DiskCopy(world.copyPath("copy")).read((page) => catalog.apply(page));
  expect(copy?.position).toBeDefined();
  const codes = ["c0-10", "c0-11", "c8-12000"];
  expect(codes.filter((code) => catalog.couponByCode(1, code))).toEqual(["c0-11", "c8-12000"]);
});

test("what is older than every mark is read from the beginning, and a restore noticed (#6, G206)", async () => {
  const backup = await world.backUp();
  await world.change(coupons("old"), ...CHANGES, AGED);
  await forgetOldRows(world.pool, new AbortController().signal);
  const fresh = await world.follow();
  expect(fresh.catalog.couponByCode(1, "old12000")).toBeDefined();
  const first = await world.follow("copy");
  await first.feed.close();
  await removePosition(world.copyPath("copy"));
  await world.change(pointTo("B", "today"));
  const second = await world.follow("copy");
  for (const { catalog, refresh } of [fresh, second]) {
    expect(await refresh()).toBe(true);
    expect(contentOf(catalog)["B"]).toBe("https://shop.example/today -");
  }
  await world.restore(backup, coupons("new"));
  for (const { catalog, refresh, metric } of [fresh, second]) {
    expect(await refresh()).toBe(true);
    expect(catalog.couponByCode(1, "new1")).toBeDefined();
    expect(catalog.couponByCode(1, "old1")).toBeUndefined();
    expect(metric("catalog_rewinds_total")).toBe(1);
  }
});

test("a restore is reported although the log is shortened while the catalog is read again (#6)", async () => {
  await world.change(coupons("old"));
  const backup = await world.backUp();
  await world.change(pointTo("A", "lost"));
  let isDue = false;
  const db = {
    query: async <Row extends pg.QueryResultRow>(statement: Statement) => {
      const answer = await world.pool.query<Row>(statement);
      // The first page of all.
      if (!isDue || statement.values?.[0] !== 0) return answer;
      isDue = false;
      await forgetOldRows(world.pool, new AbortController().signal);
      return answer;
    },
  };
  const { catalog, refresh, metric } = await world.follow(undefined, db);
  isDue = true;
  await world.restore(backup, pointTo("B", "new"), AGED);
  expect(await refresh()).toBe(true);
  expect(isDue).toBe(false);
  expect(contentOf(catalog)["B"]).toBe("https://shop.example/new pending");
  expect(metric("catalog_rewinds_total")).toBe(1);
});

test("a catalog of an older release without marks is followed, and its restore noticed (#6)", async () => {
  await world.change("delete from catalog_log", "insert into catalog_log (version) values (0)");
  const running = await world.follow();
  const backup = await world.backUp();
  await world.change(pointTo("A", "lost"));
  await running.refresh();
  await world.restore(backup, pointTo("B", "new"));
  await running.refresh();
  expect(contentOf(running.catalog)).toEqual({
    A: "https://shop.example/a approved",
    B: "https://shop.example/new pending",
  });
});

test("while a restored catalog is read, the whole old one is used, and then the new one (#6)", async () => {
  const backup = await world.backUp();
  await world.change(...CHANGES, coupons("old"));
  const seen: string[] = [];
  const watched: { follower?: Follower } = {};
  const contents = (): string =>
    JSON.stringify(watched.follower === undefined ? {} : contentOf(watched.follower.catalog));
  const db = {
    query: async <Row extends pg.QueryResultRow>(statement: Statement) => {
      const answer = await world.pool.query<Row>(statement);
      seen.push(contents());
      return answer;
    },
  };
  const { catalog, refresh } = (watched.follower = await world.follow(undefined, db));
  const old = contents();
  await world.restore(backup, coupons("new"), pointTo("B", "new"));
  seen.length = 0;
  await refresh();
  const fresh = contents();
  expect(fresh).toContain("new");
  expect(catalog.couponByCode(1, "new1")).toBeDefined();
  expect(catalog.couponByCode(1, "old1")).toBeUndefined();
  const during = seen.filter((content) => content === old);
  expect(during.length).toBeGreaterThan(2);
  expect(seen.filter((content) => content !== old && content !== fresh)).toEqual([]);
});

test("a database of another installation is not followed: the catalog does not change (#6)", async () => {
  const empty = await world.backUp();
  const running = await world.follow();
  const before = contentOf(running.catalog);
  await world.restore(
    empty,
    "update installation set secret = repeat('0', 64)",
    "delete from catalog_log",
    "insert into catalog_log (version) values (0)",
    pointTo("A", "elsewhere"),
  );
  expect(await running.refresh()).toBe(false);
  expect(contentOf(running.catalog)).toEqual(before);
  expect(running.metric("catalog_rewinds_total")).toBe(0);
});

/** Leaves the copy as the release before G206 would have written it. */
async function removePosition(path: string): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.filter((line) => !line.includes("catalog_position")).join("\n"));
}

function coupons(prefix: string): string {
  return `insert into coupon (workspace_id, code, affiliate_id) select 1, '${prefix}' || n, 1 from generate_series(1, 12000) n`;
}
