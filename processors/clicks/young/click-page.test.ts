import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClickPageQuery } from "../../../schemas/events/click-query.ts";
import type { Segment } from "../intake/batch.ts";
import { SegmentBuilder } from "../intake/segment-builder.ts";
import { adClickKeys } from "./ad-clicks.ts";
import { type ClickPage, clickPage } from "./click-page.ts";
import { YoungClicks } from "./young-clicks.ts";

const T = Date.UTC(2026, 0, 1);
const ALL: ClickPageQuery = {
  by: "page",
  shard: 0,
  workspaceId: 1,
  fromMs: T,
  toMs: T + 1_000,
  where: [{ column: "gclid", value: "g" }],
  limit: 100,
};

function idOf(n: number): string {
  return n.toString(16).padStart(32, "0");
}

const ROWS_MAX = 1_000;

type Click = readonly [n: number, fields?: { workspace_id?: number; [field: string]: unknown }];

function noClicks(): YoungClicks {
  return new YoungClicks({ ageMs: 600_000, bytesMax: 1_000_000_000, segmentsMax: 100_000 });
}

/** Adds a segment of clicks `n` ms after the start with the ad ID of {@link ALL}, with more fields. */
function addTo(young: YoungClicks, clicks: readonly Click[], isStored = false): Segment {
  const lines = clicks.map(([n, fields]) =>
    JSON.stringify({ click_id: idOf(n), ts: T + n, workspace_id: 1, gclid: "g", ...fields }),
  );
  const lineBytes = lines.join("").length;
  const builder = new SegmentBuilder(
    { producer: 1, epoch: 1 },
    { readAtMs: T, lineBytes, rows: lines.length },
  );
  for (const [index, [n, { ts = T + n } = {}]] of clicks.entries()) {
    const line = lines[index] ?? "";
    builder.add(line, { position: index, month: 202601, ts: Number(ts) }, true);
    builder.addAdClick(adClickKeys(line), 0);
  }
  const segment = builder.finish();
  assert(segment !== undefined);
  segment.isStored = isStored;
  young.add(segment);
  return segment;
}

function clicksOf(...segments: readonly (readonly Click[])[]): YoungClicks {
  const young = noClicks();
  for (const clicks of segments) addTo(young, clicks);
  return young;
}

function pageOf(young: YoungClicks, query: Partial<ClickPageQuery> = {}): ClickPage | undefined {
  const where = [...ALL.where, ...(query.where ?? [])];
  return clickPage(young, { ...ALL, ...query, where }, ROWS_MAX);
}

function idsOf(page: ClickPage | undefined): number[] {
  return (page?.clicks ?? []).map((row) => {
    const [, digits = ""] = /"click_id":"([0-9a-f]{32})"/.exec(row) ?? [];
    return Number.parseInt(digits, 16);
  });
}

const rows = clicksOf(
  [[1], [5, { sub1: "a" }], [6, { gclid: "h" }], [7, { gclid: "", gbraid: "g" }]],
  [[3, { workspace_id: 12 }], [4, { is_bot: true }], [2_000]],
);
addTo(rows, [[2]], true);

test("a page holds unstored clicks with the ad ID, of the workspace and the range, newest first", () => {
  expect(idsOf(pageOf(rows))).toEqual([5, 4, 1]);
  expect(idsOf(pageOf(rows, { fromMs: T + 4, toMs: T + 3_000 }))).toEqual([2_000, 5, 4]);
  expect(idsOf(pageOf(rows, { workspaceId: 12 }))).toEqual([3]);
  expect(clickPage(rows, { ...ALL, where: [] }, ROWS_MAX)).toBeUndefined();
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
  const all = clicksOf([[1, same], [2, same], [3, same], [9]]);
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
  const all = clicksOf([
    [1, large],
    [2, large],
    [3, large],
  ]);
  expect(pageOf(all)?.isCut).toBe(true);
  expect(idsOf(pageOf(all))).toEqual([3, 2]);
  expect(pageOf(all, { after: { atMs: T + 2, clickId: idOf(2) } })?.isCut).toBe(false);
});

test("a row larger than a page is a page of its own, and the page reports that it is cut", () => {
  const all = clicksOf([[1], [2, { user_agent: "x".repeat(500_000) }]]);
  expect(idsOf(pageOf(all))).toEqual([2]);
  expect(pageOf(all)?.isCut).toBe(true);
  expect(idsOf(pageOf(all, { after: { atMs: T + 2, clickId: idOf(2) } }))).toEqual([1]);
});

test("a row that is not valid JSON is skipped", () => {
  const broken = noClicks();
  const { bytes } = addTo(broken, [[1], [2]]);
  bytes.write('"workspace_id"!1,', bytes.indexOf('"workspace_id":1,'));
  expect(idsOf(pageOf(broken))).toEqual([2]);
});

test("a page reads the newest rows with its ad ID only; one that needs too many is refused", () => {
  const all = noClicks();
  for (let n = 0; n < 900; n += 1)
    addTo(all, [[n, { workspace_id: 7 }], [n], [n, { sub1: "x" }], [n, { gclid: "h" }]]);
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

test("pages equal a plain filter over all clicks, while segments come and are stored", () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.array(aClick, { minLength: 1, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constant("store" as const) },
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
      const young = noClicks();
      const segments: Segment[] = [];
      const model: { id: number; ms: number; workspace: number; isBot: boolean }[][] = [];
      let id = 0;
      for (const step of all) {
        if (step === "store") {
          const oldest = segments.shift();
          if (oldest !== undefined) oldest.isStored = true;
          model.shift();
          continue;
        }
        const clicks = step.map((click) => ({ ...click, id: (id += 1) }));
        model.push(clicks);
        const lines = clicks.map((click): Click => {
          const fields = { workspace_id: click.workspace, is_bot: click.isBot };
          return [click.id, { ts: T + click.ms, ...fields }];
        });
        segments.push(addTo(young, lines));
      }
      const expected = model
        .flat()
        .filter(({ workspace }) => workspace === workspaceId)
        .filter(({ ms }) => ms >= from && ms <= to)
        .filter((click) => isBot === undefined || click.isBot === isBot)
        .toSorted((a, b) => b.ms - a.ms || b.id - a.id);
      const page = pageOf(young, {
        workspaceId,
        limit,
        fromMs: T + from,
        toMs: T + to,
        where: isBot === undefined ? [] : [{ column: "is_bot", value: isBot }],
      });
      expect(idsOf(page)).toEqual(expected.slice(0, limit).map((click) => click.id));
    }),
  );
});
