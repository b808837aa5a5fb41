import { expect, test } from "vitest";
import type { AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { adClickKeys } from "../rows/ad-clicks.ts";
import type { Segment } from "../rows/batch.ts";
import { YoungClicks, type YoungLimits } from "./young-clicks.ts";

const T = Date.UTC(2026, 0, 1);
const limits: YoungLimits = { ageMs: 600_000, bytesMax: 1_000_000, segmentsMax: 100 };

function idAt(ts: number, number: number): string {
  return `${ts.toString(16).padStart(12, "0")}${number.toString(16).padStart(20, "0")}`;
}

type Fields = { gclid?: string; offer_id?: number; workspace_id?: number };

/** A segment of clicks with these times, as an intake makes it. */
function segment(times: readonly number[], fields: Partial<Segment> & Fields = {}): Segment {
  const { gclid, offer_id = 0, workspace_id = 1, ...rest } = fields;
  const rows = times.map((ts, number) =>
    JSON.stringify({ click_id: idAt(ts, number), ts, workspace_id, offer_id, gclid }),
  );
  const bytes = Buffer.from(`${rows.join("\n")}\n`);
  const adClicks = rows.flatMap((row, index) => {
    const at = bytes.indexOf(row);
    const click = { offerId: offer_id, ts: times[index] ?? 0, bytes, at };
    return adClickKeys(Buffer.from(row).toString("latin1")).map((key) => ({ key, ...click }));
  });
  return {
    producer: 1,
    epoch: 1,
    from: 0,
    to: times.length,
    month: 202601,
    bytes,
    fromMs: Math.min(...times),
    toMs: Math.max(...times),
    adClicks,
    readAtMs: T,
    isStored: false,
    ...rest,
  };
}

/** Times of the clicks that a search finds. */
function timesOf(
  young: YoungClicks,
  value: string,
  asked: { kind?: AdClickIdKind; offerId?: number; workspaceId?: number } = {},
): number[] {
  const rows = young.byAdClickId({ kind: "gclid", offerId: 0, workspaceId: 1, value, ...asked });
  return rows.map((row) => Number(/"ts":(\d+)/.exec(row)?.[1]));
}

test("every click with an ID that waits for ClickHouse is found, up to a number of bytes (G162)", () => {
  const young = new YoungClicks(limits);
  const stored = segment([T, T + 1], { gclid: "g", isStored: true });
  const first = segment([T + 2, T + 3], { gclid: "g" });
  const others = [{ gclid: "h" }, {}, { gclid: "g", workspace_id: 2 }];
  for (const one of [stored, first, ...others.map((fields) => segment([T + 4], fields))])
    young.add(one);
  young.add(segment([T + 5], { gclid: "g", offer_id: 7 }));
  const id = { kind: "gclid", workspaceId: 1, value: "g" } as const;
  const times = (rows: readonly string[] | undefined): number[] | undefined =>
    rows?.map((row) => Number(/"ts":(\d+)/.exec(row)?.[1]));
  const found = young.unstoredWith(id, 1_000);
  expect(times(found)).toEqual([T + 2, T + 3, T + 5]);
  const bytes = Buffer.byteLength((found ?? []).join(""));
  expect(young.unstoredWith(id, bytes)).toEqual(found);
  expect(young.unstoredWith(id, bytes - 1)).toBeUndefined();
  first.isStored = true;
  expect(times(young.unstoredWith(id, 1_000))).toEqual([T + 5]);
  expect(young.unstoredWith({ ...id, kind: "gbraid" }, 1_000)).toEqual([]);
});

test("a click is found by its id from the moment it was read, also in a batch over many seconds", () => {
  const young = new YoungClicks(limits);
  young.add(segment([T, T + 1, T + 2]));
  young.add(segment([T + 2, T + 60_000]));
  young.add(segment([T + 900, T + 1_100]));
  for (const [ts, number] of [
    [T, 0],
    [T + 2, 2],
    [T + 60_000, 1],
    [T + 1_100, 1],
  ] as const) {
    expect(JSON.parse(young.byId(idAt(ts, number)) ?? "null")).toMatchObject({ ts });
  }
  expect(young.byId(idAt(T + 1, 9))).toBeUndefined();
  expect(young.byId(idAt(T + 5_000, 0))).toBeUndefined();
});

test("the latest click is found by its ad ID, whatever characters that has", () => {
  const young = new YoungClicks(limits);
  const gclid = 'G-"1"\\\u00e4\n';
  young.add(segment([T, T + 1], { gclid }));
  young.add(segment([T + 2], { gclid: "other" }));
  young.add(segment([T + 3, T + 4], { gclid }));
  young.add(segment([T + 3], { gclid }));
  expect(timesOf(young, gclid)).toEqual([T + 4]);
  expect(timesOf(young, gclid, { kind: "wbraid" })).toEqual([]);
  expect(timesOf(young, gclid, { workspaceId: 2 })).toEqual([]);
  expect(timesOf(young, "G-")).toEqual([]);
});

test("a search finds an id's latest click on the named offer, on any offer and without one (G113)", () => {
  const young = new YoungClicks(limits);
  for (const [index, offer_id] of [5, 5, 6, 7, 0, 6].entries()) {
    young.add(segment([T + index], { gclid: "G", offer_id }));
  }
  young.add(segment([T + 9], { gclid: "G", offer_id: 5, workspace_id: 2 }));
  expect(timesOf(young, "G", { offerId: 5 })).toEqual([T + 1, T + 4, T + 5]);
  expect(timesOf(young, "G", { offerId: 8 })).toEqual([T + 4, T + 5]);
  expect(timesOf(young, "G")).toEqual([T + 4, T + 5]);
  expect(timesOf(young, "G", { workspaceId: 2, offerId: 5 })).toEqual([T + 9]);
});

test("of two clicks of one millisecond the higher id is the latest, whatever the order of reading (G113)", () => {
  const [first, second] = [segment([T], { gclid: "G" }), segment([T - 1, T], { gclid: "G" })];
  for (const order of [
    [first, second],
    [second, first],
  ]) {
    const young = new YoungClicks(limits);
    for (const one of order) young.add(one);
    const [row = ""] = young.byAdClickId({ kind: "gclid", offerId: 0, workspaceId: 1, value: "G" });
    expect(row).toContain(idAt(T, 1));
  }
});

test("a click that is not stored never leaves, whatever its age and their number", () => {
  const young = new YoungClicks({ ageMs: 1, bytesMax: 1, segmentsMax: 1 });
  for (let i = 0; i < 10; i += 1) young.add(segment([T + i]));
  young.forget(T + 1_000_000);
  expect(young.count).toBe(10);
});

test("stored clicks leave by age, by number and by bytes, oldest first, and leave nothing behind", () => {
  const young = new YoungClicks(limits);
  for (let i = 0; i < 10; i += 1) {
    const readAtMs = T + i * 100_000;
    young.add(segment([readAtMs], { gclid: "G", readAtMs, isStored: true }));
  }
  young.forget(T + 700_000);
  expect(young.byId(idAt(T, 0))).toBeUndefined();
  expect(young.byId(idAt(T + 100_000, 0))).toBeDefined();
  expect(timesOf(young, "G")).toEqual([T + 900_000]);
  const readAtMs = T + 900_000;
  for (let i = 10; i < 120; i += 1)
    young.add(segment([readAtMs + i], { readAtMs, isStored: true }));
  young.forget(readAtMs);
  expect(young.count).toBe(100);
  young.add(segment([readAtMs], { readAtMs, isStored: true, bytes: Buffer.alloc(1_000_001) }));
  young.forget(readAtMs);
  expect(young.count).toBe(0);
  expect(young.bytes).toBe(0);
  expect(timesOf(young, "G")).toEqual([]);
});

test("its memory stays bounded over many clicks", () => {
  const young = new YoungClicks(limits);
  for (let i = 0; i < 2_000; i += 1) {
    young.add(segment([T + i], { gclid: `G-${i}`, readAtMs: T + i, isStored: true }));
    young.forget(T + i);
  }
  expect(young.count).toBe(100);
  expect(young.byId(idAt(T + 1_999, 0))).toBeDefined();
  expect(timesOf(young, "G-1")).toEqual([]);
});
