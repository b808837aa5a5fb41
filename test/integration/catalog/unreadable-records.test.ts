import { readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contentOf, FeedWorld, type Follower, pointTo } from "./feed-world.ts";

/** Postgres accepts this record, but this release cannot read it. */
const MAKE_A_UNREADABLE = `update offer set caps = '{"clicks": "of another release"}',
  destination_url = 'https://shop.example/unreadable' where code = 'A'`;
const UNREADABLE = "catalog_unreadable_records";

let world: FeedWorld;
beforeEach(async () => {
  world = await FeedWorld.open();
});
afterEach(async () => {
  await world.close();
});

function destinationsOf({ catalog }: Follower): string[] {
  return Object.values(contentOf(catalog)).map((content) => content.split(" ")[0] ?? "");
}

test("a record that cannot be read keeps its last version, and all others stay current (#10)", async () => {
  const running = await world.follow();
  await world.change(MAKE_A_UNREADABLE, pointTo("B", "new"));
  expect(await running.refresh()).toBe(true);
  expect(destinationsOf(running)).toEqual(["https://shop.example/a", "https://shop.example/new"]);
  expect(running.metric(UNREADABLE)).toBe(1);
  expect(running.feed.mayRefuseWrongly).toBe(true);

  await world.change("update offer set caps = '{}' where code = 'A'");
  await running.refresh();
  expect(destinationsOf(running)).toEqual([
    "https://shop.example/unreadable",
    "https://shop.example/new",
  ]);
  expect(running.metric(UNREADABLE)).toBe(0);
  expect(running.feed.mayRefuseWrongly).toBe(false);
});

test("a process that starts with an unreadable record has all the others (#10)", async () => {
  await world.change(MAKE_A_UNREADABLE);
  const started = await world.follow();
  expect(destinationsOf(started)).toEqual(["https://shop.example/b"]);
  expect(started.metric(UNREADABLE)).toBe(1);
  await world.change("update offer set deleted_at = now() where code = 'A'");
  await started.refresh();
  expect(started.metric(UNREADABLE)).toBe(0);
});

test("after a restart from the copy, unreadable records are reported and read once repaired (#10)", async () => {
  const first = await world.follow("copy");
  await first.feed.close();
  const second = await world.follow("copy");
  await world.change(MAKE_A_UNREADABLE, pointTo("B", "new"));
  await second.refresh();
  await second.feed.close();
  const third = await world.follow("copy");
  expect(destinationsOf(third)).toEqual(["https://shop.example/a", "https://shop.example/new"]);
  expect(third.metric(UNREADABLE)).toBe(1);
  await third.feed.close();
  await world.change("update offer set caps = '{}' where code = 'A'");
  const fourth = await world.follow("copy");
  expect(destinationsOf(fourth)[0]).toBe("https://shop.example/unreadable");
  expect(fourth.metric(UNREADABLE)).toBe(0);
});

test("records that another release left out of its copy are read from Postgres (#10)", async () => {
  const older = await world.follow("copy");
  await older.feed.close();
  const path = world.copyPath("copy");
  const lines = (await readFile(path, "utf8")).split("\n");
  const asOlder = lines
    .filter((line) => !line.includes('"code":"A"'))
    .map((line) => line.replace(/"shape":"[^"]*"/, '"shape":"of another release"'));
  await writeFile(path, asOlder.join("\n"));
  const upgraded = await world.follow("copy");
  expect(destinationsOf(upgraded)).toEqual(["https://shop.example/a", "https://shop.example/b"]);
  expect(upgraded.metric("catalog_rewinds_total")).toBe(0);
});

test("an unreadable record in the copy hides no other one while Postgres is unreachable (#10)", async () => {
  const first = await world.follow("copy");
  await first.feed.close();
  const path = world.copyPath("copy");
  const text = await readFile(path, "utf8");
  await writeFile(
    path,
    text.replace(/("code":"A".*?"caps":){}/, '$1{"clicks":"of another release"}'),
  );
  const away = { query: () => Promise.reject(new Error("Connection terminated")) };
  const started = await world.follow("copy", away);
  expect(destinationsOf(started)).toEqual(["https://shop.example/b"]);
});

test("a restore with an unreadable record keeps its known version in use (#6, #10)", async () => {
  const backup = await world.backUp();
  await world.change(pointTo("A", "lost"), pointTo("B", "lost"));
  const running = await world.follow();
  await world.restore(backup, MAKE_A_UNREADABLE);
  await running.refresh();
  expect(destinationsOf(running)).toEqual(["https://shop.example/lost", "https://shop.example/b"]);
  expect(running.metric(UNREADABLE)).toBe(1);
}, 120_000);
