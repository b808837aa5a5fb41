import { expect, test } from "vitest";
import type { Segment } from "./batch.ts";
import { adClickHash, YoungClicks, type YoungLimits } from "./young-clicks.ts";

const T = Date.UTC(2026, 0, 1);
const limits: YoungLimits = { ageMs: 600_000, bytesMax: 1_000_000, segmentsMax: 100 };

function idAt(ts: number, number: number): string {
  return `${ts.toString(16).padStart(12, "0")}${number.toString(16).padStart(20, "0")}`;
}

function asWritten(value: string): string {
  return Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1");
}

/** A segment of clicks with these times, as an intake makes it. */
function segment(
  times: readonly number[],
  fields: Partial<Segment> & { gclid?: string } = {},
): Segment {
  const { gclid, ...rest } = fields;
  const rows = times.map((ts, number) =>
    JSON.stringify({ click_id: idAt(ts, number), ts, ...(gclid === undefined ? {} : { gclid }) }),
  );
  return {
    ...{ producer: 1, epoch: 1, from: 0, to: times.length, month: 202601 },
    bytes: Buffer.from(`${rows.join("\n")}\n`),
    fromMs: Math.min(...times),
    toMs: Math.max(...times),
    adHashes: gclid === undefined ? [] : times.map(() => adClickHash("gclid", asWritten(gclid))),
    readAtMs: T,
    isStored: false,
    ...rest,
  };
}

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

test("clicks are found by their ad-platform id, whatever characters it has, oldest first", () => {
  const young = new YoungClicks(limits);
  const gclid = 'G-"1"\\\u00e4\n';
  young.add(segment([T, T + 1], { gclid }));
  young.add(segment([T + 2], { gclid: "other" }));
  young.add(segment([T + 3], { gclid }));
  const times = young.byAdClickId("gclid", gclid).map((row) => /"ts":(\d+)/.exec(row)?.[1]);
  expect(times).toEqual([T, T + 1, T + 3].map(String));
  expect(young.byAdClickId("wbraid", gclid)).toEqual([]);
  expect(young.byAdClickId("gclid", "G-")).toEqual([]);
});

test("a click that is not stored never leaves, whatever its age and number", () => {
  const young = new YoungClicks({ ageMs: 1, bytesMax: 1, segmentsMax: 1 });
  for (let i = 0; i < 10; i += 1) young.add(segment([T + i]));
  young.forget(T + 1_000_000);
  expect(young.count).toBe(10);
});

test("stored clicks leave by age, by number and by bytes, oldest first, and nothing of them stays", () => {
  const young = new YoungClicks(limits);
  for (let i = 0; i < 10; i += 1) {
    const readAtMs = T + i * 100_000;
    young.add(segment([readAtMs], { gclid: "G", readAtMs, isStored: true }));
  }
  young.forget(T + 700_000);
  expect(young.byId(idAt(T, 0))).toBeUndefined();
  expect(young.byId(idAt(T + 100_000, 0))).toBeDefined();
  expect(young.byAdClickId("gclid", "G")).toHaveLength(9);
  const readAtMs = T + 900_000;
  for (let i = 10; i < 120; i += 1)
    young.add(segment([readAtMs + i], { readAtMs, isStored: true }));
  young.forget(readAtMs);
  expect(young.count).toBe(100);
  young.add(segment([readAtMs], { readAtMs, isStored: true, bytes: Buffer.alloc(1_000_001) }));
  young.forget(readAtMs);
  expect(young.count).toBe(0);
  expect(young.bytes).toBe(0);
  expect(young.byAdClickId("gclid", "G")).toEqual([]);
});

test("its memory stays bounded over many clicks", () => {
  const young = new YoungClicks(limits);
  for (let i = 0; i < 2_000; i += 1) {
    young.add(segment([T + i], { gclid: `G-${i}`, readAtMs: T + i, isStored: true }));
    young.forget(T + i);
  }
  expect(young.count).toBe(100);
  expect(young.byId(idAt(T + 1_999, 0))).toBeDefined();
  expect(young.byAdClickId("gclid", "G-1")).toEqual([]);
});
