import { expect, test } from "vitest";
import type { ClickPageQuery } from "../../../schemas/events/click-query.ts";
import { Batch, type Segment } from "../intake/batch.ts";
import { type ClickPage, clickPage } from "./click-page.ts";

const T = Date.UTC(2026, 0, 1);
const ALL: ClickPageQuery = {
  by: "page",
  shard: 0,
  workspaceId: 1,
  fromMs: T,
  toMs: T + 1_000,
  where: [],
  limit: 100,
};

function idOf(n: number): string {
  return n.toString(16).padStart(32, "0");
}

/** A segment of clicks `n` ms after the start, with more fields. */
function segment(
  clicks: readonly (readonly [n: number, fields?: object])[],
  isStored = false,
): Segment {
  const rows = clicks.map(([n, fields]) =>
    JSON.stringify({ click_id: idOf(n), ts: T + n, workspace_id: 1, ...fields }),
  );
  const times = clicks.map(([n]) => T + n);
  return {
    producer: 1,
    epoch: 1,
    from: 0,
    to: clicks.length,
    month: 202601,
    isStored,
    readAtMs: T,
    bytes: Buffer.from(rows.map((row) => `${row}\n`).join("")),
    fromMs: Math.min(...times),
    toMs: Math.max(...times),
    adClicks: [],
  };
}

function batchOf(...segments: Segment[]): Batch {
  const batch = new Batch();
  for (const one of segments) batch.add(one);
  return batch;
}

function idsOf(page: ClickPage | undefined): number[] {
  return (page?.clicks ?? []).map((row) => {
    const [, digits = ""] = /"click_id":"([0-9a-f]{32})"/.exec(row) ?? [];
    return Number.parseInt(digits, 16);
  });
}

const batches = [
  batchOf(segment([[1], [5, { sub1: "a" }]]), segment([[2]], true)),
  batchOf(segment([[3, { workspace_id: 12 }], [4, { is_bot: true }], [2_000]])),
];

test("a page holds unstored clicks of the workspace and the range, newest first", () => {
  expect(idsOf(clickPage(batches, ALL))).toEqual([5, 4, 1]);
  expect(idsOf(clickPage(batches, { ...ALL, fromMs: T + 4, toMs: T + 3_000 }))).toEqual([
    2_000, 5, 4,
  ]);
  expect(idsOf(clickPage(batches, { ...ALL, workspaceId: 12 }))).toEqual([3]);
});

test("a field that is missing in a row has its default", () => {
  const where = (column: string, value: string | boolean): number[] =>
    idsOf(clickPage(batches, { ...ALL, where: [{ column, value }] }));
  expect(where("sub1", "")).toEqual([4, 1]);
  expect(where("sub1", "a")).toEqual([5]);
  expect(where("is_bot", false)).toEqual([5, 1]);
  expect(where("no_such_column", "")).toEqual([]);
});

test("pages of any size follow one another without a gap, also within a millisecond", () => {
  const same = { ts: T + 7 };
  const all = [batchOf(segment([[1, same], [2, same], [3, same], [9]]))];
  const seen: number[] = [];
  let after: ClickPageQuery["after"];
  for (let pages = 0; pages < 10; pages += 1) {
    const page = clickPage(all, { ...ALL, limit: 1, ...(after === undefined ? {} : { after }) });
    const [id] = idsOf(page);
    if (id === undefined) break;
    seen.push(id);
    after = { atMs: id === 9 ? T + 9 : T + 7, clickId: idOf(id) };
  }
  expect(seen).toEqual([9, 3, 2, 1]);
});

test("a page stays below the size of a message, and reports that it is cut", () => {
  const large = { user_agent: "x".repeat(150_000) };
  const all = [
    batchOf(
      segment([
        [1, large],
        [2, large],
        [3, large],
      ]),
    ),
  ];
  expect(clickPage(all, ALL)?.isCut).toBe(true);
  expect(idsOf(clickPage(all, ALL))).toEqual([3, 2]);
  expect(clickPage(all, { ...ALL, after: { atMs: T + 2, clickId: idOf(2) } })?.isCut).toBe(false);
});

test("an invalid row is skipped; a writer with too many rows returns no page", () => {
  const broken = segment([[1], [2]]);
  const text = broken.bytes.toString().replace('"workspace_id":1}\n', '"workspace_id":1,}\n');
  expect(idsOf(clickPage([batchOf({ ...broken, bytes: Buffer.from(text) })], ALL))).toEqual([2]);
  const many = { ...segment([[1]]), to: 20_001 };
  expect(clickPage([batchOf(many)], ALL)).toBeUndefined();
});
