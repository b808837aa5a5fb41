import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClickPageQuery } from "../../../schemas/events/click-query.ts";
import type { Segment } from "../intake/batch.ts";
import { SegmentBuilder } from "../intake/segment-builder.ts";
import { type ClickPage, clickPage } from "./click-page.ts";
import { UnstoredRows } from "./unstored-rows.ts";

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

const ROWS_MAX = 1_000;

type Click = readonly [n: number, fields?: { workspace_id?: number; [field: string]: unknown }];

/** Adds a segment of clicks `n` ms after the start, with more fields. */
function addTo(
  rows: UnstoredRows,
  clicks: readonly Click[],
  change: Partial<Segment> = {},
): Segment | undefined {
  const lines = clicks.map(([n, fields]) =>
    JSON.stringify({ click_id: idOf(n), ts: T + n, workspace_id: 1, ...fields }),
  );
  const lineBytes = lines.join("").length;
  const builder = new SegmentBuilder(
    { producer: 1, epoch: 1 },
    { readAtMs: T, lineBytes, rows: lines.length },
  );
  for (const [index, [n, { workspace_id = 1, ts = T + n } = {}]] of clicks.entries()) {
    builder.add(lines[index] ?? "", { position: index, month: 202601, ts: Number(ts) }, true);
    builder.addToList(workspace_id);
  }
  const finished = builder.finish();
  if (finished === undefined) return undefined;
  const segment = { ...finished.segment, ...change };
  rows.add(segment, finished.places);
  return segment;
}

function rowsOf(...segments: readonly (readonly Click[])[]): UnstoredRows {
  const rows = new UnstoredRows();
  for (const clicks of segments) addTo(rows, clicks);
  return rows;
}

function pageOf(rows: UnstoredRows, query: Partial<ClickPageQuery> = {}): ClickPage | undefined {
  return clickPage(rows, { ...ALL, ...query }, ROWS_MAX);
}

function idsOf(page: ClickPage | undefined): number[] {
  return (page?.clicks ?? []).map((row) => {
    const [, digits = ""] = /"click_id":"([0-9a-f]{32})"/.exec(row) ?? [];
    return Number.parseInt(digits, 16);
  });
}

const rows = rowsOf(
  [[1], [5, { sub1: "a" }]],
  [[3, { workspace_id: 12 }], [4, { is_bot: true }], [2_000]],
);
addTo(rows, [[2]], { isStored: true });

test("a page holds unstored clicks of the workspace and the range, newest first", () => {
  expect(idsOf(pageOf(rows))).toEqual([5, 4, 1]);
  expect(idsOf(pageOf(rows, { fromMs: T + 4, toMs: T + 3_000 }))).toEqual([2_000, 5, 4]);
  expect(idsOf(pageOf(rows, { workspaceId: 12 }))).toEqual([3]);
});

test("a field that is missing in a row has its default", () => {
  const where = (column: string, value: string | boolean): number[] =>
    idsOf(pageOf(rows, { where: [{ column, value }] }));
  expect(where("sub1", "")).toEqual([4, 1]);
  expect(where("sub1", "a")).toEqual([5]);
  expect(where("is_bot", false)).toEqual([5, 1]);
  expect(where("no_such_column", "")).toEqual([]);
});

test("pages of any size follow one another without a gap, also within a millisecond", () => {
  const same = { ts: T + 7 };
  const all = rowsOf([[1, same], [2, same], [3, same], [9]]);
  const seen: number[] = [];
  let after: ClickPageQuery["after"];
  for (let pages = 0; pages < 10; pages += 1) {
    const [id] = idsOf(pageOf(all, { limit: 1, after }));
    if (id === undefined) break;
    seen.push(id);
    after = { atMs: id === 9 ? T + 9 : T + 7, clickId: idOf(id) };
  }
  expect(seen).toEqual([9, 3, 2, 1]);
});

test("a page stays below the size of a message, and reports that it is cut", () => {
  const large = { user_agent: "x".repeat(150_000) };
  const all = rowsOf([
    [1, large],
    [2, large],
    [3, large],
  ]);
  expect(pageOf(all)?.isCut).toBe(true);
  expect(idsOf(pageOf(all))).toEqual([3, 2]);
  expect(pageOf(all, { after: { atMs: T + 2, clickId: idOf(2) } })?.isCut).toBe(false);
});

test("a row larger than a page is a page of its own, and the page reports that it is cut", () => {
  const all = rowsOf([[1], [2, { user_agent: "x".repeat(500_000) }]]);
  expect(idsOf(pageOf(all))).toEqual([2]);
  expect(pageOf(all)?.isCut).toBe(true);
  expect(idsOf(pageOf(all, { after: { atMs: T + 2, clickId: idOf(2) } }))).toEqual([1]);
});

test("a row that is not valid JSON is skipped", () => {
  const broken = rowsOf([[1], [2]]);
  const [first] = broken.of(1);
  const at = first?.segment.bytes.indexOf('"workspace_id":1,') ?? -1;
  first?.segment.bytes.write('"workspace_id"!1,', at);
  expect(idsOf(pageOf(broken))).toEqual([2]);
});

test("a page reads the newest rows of its workspace only; one that needs too many is refused", () => {
  const all = new UnstoredRows();
  for (let n = 0; n < 900; n += 1) addTo(all, [[n, { workspace_id: 7 }], [n], [n, { sub1: "x" }]]);
  const at = { toMs: T + 5_000 };
  expect(pageOf(all, at)?.clicks).toHaveLength(100);
  expect(pageOf(all, { ...at, workspaceId: 7 })?.clicks).toHaveLength(100);
  expect(idsOf(pageOf(all, { ...at, workspaceId: 7, toMs: T + 1 }))).toEqual([1, 0]);
  const rare = [{ column: "sub2", value: "no click has it" }];
  expect(pageOf(all, { ...at, where: rare })).toBeUndefined();
  expect(pageOf(all, { ...at, where: rare, workspaceId: 7 })?.clicks).toEqual([]);
});

const aClick = fc.record({
  ms: fc.integer({ min: 0, max: 20 }),
  workspace: fc.integer({ min: 1, max: 3 }),
  isBot: fc.boolean(),
});

test("pages equal a plain filter over all clicks, while segments come and leave", () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.array(aClick, { minLength: 1, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constant("leave" as const) },
    ),
    { maxLength: 30 },
  );
  const asked = fc.record({
    workspaceId: fc.integer({ min: 1, max: 4 }),
    from: fc.integer({ min: 0, max: 20 }),
    to: fc.integer({ min: 0, max: 20 }),
    limit: fc.integer({ min: 1, max: 5 }),
    isBot: fc.option(fc.boolean(), { nil: undefined }),
  });
  fc.assert(
    fc.property(steps, asked, (all, { workspaceId, from, to, limit, isBot }) => {
      const unstored = new UnstoredRows();
      const segments: (Segment | undefined)[] = [];
      const model: { id: number; ms: number; workspace: number; isBot: boolean }[][] = [];
      let id = 0;
      for (const step of all) {
        if (step === "leave") {
          const oldest = segments.shift();
          if (oldest !== undefined) unstored.remove(oldest);
          model.shift();
          continue;
        }
        const clicks = step.map((click) => ({ ...click, id: (id += 1) }));
        model.push(clicks);
        const lines = clicks.map((click): Click => {
          const fields = { workspace_id: click.workspace, is_bot: click.isBot };
          return [click.id, { ts: T + click.ms, ...fields }];
        });
        segments.push(addTo(unstored, lines));
      }
      const expected = model
        .flat()
        .filter(({ workspace }) => workspace === workspaceId)
        .filter(({ ms }) => ms >= from && ms <= to)
        .filter((click) => isBot === undefined || click.isBot === isBot)
        .toSorted((a, b) => b.ms - a.ms || b.id - a.id);
      const page = pageOf(unstored, {
        workspaceId,
        limit,
        fromMs: T + from,
        toMs: T + to,
        where: isBot === undefined ? [] : [{ column: "is_bot", value: isBot }],
      });
      expect(idsOf(page)).toEqual(expected.slice(0, limit).map((click) => click.id));
      expect(unstored.count).toBe(model.flat().length);
    }),
  );
});
