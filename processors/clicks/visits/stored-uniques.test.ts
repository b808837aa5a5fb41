import { expect, test } from "vitest";
import { loadRows } from "../lane/stored-uniques.ts";
import { UniqueClicks } from "./unique-clicks.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const ROW_BYTES = 24;

type Row = readonly [offerId: number, affiliateId: number, visitor: number, atMs: number];

function bytesOf(rows: readonly Row[]): Buffer {
  const bytes = Buffer.alloc(rows.length * ROW_BYTES);
  for (const [index, [offerId, affiliateId, visitor, atMs]] of rows.entries()) {
    const at = index * ROW_BYTES;
    bytes.writeUInt32LE(offerId, at);
    bytes.writeUInt32LE(affiliateId, at + 4);
    bytes.writeBigUInt64LE(BigInt(visitor), at + 8);
    bytes.writeBigInt64LE(BigInt(atMs), at + 16);
  }
  return bytes;
}

/** The bytes in chunks of this size. */
async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => [
    1 + (index % 5),
    1 + (index % 3),
    2 ** 52 - 1 - index * 1_000_003,
    START_MS + index * 1_000,
  ]);
}

async function loaded(bytes: Buffer, size: number, entriesMax = 100_000): Promise<UniqueClicks> {
  const uniques = new UniqueClicks({ entriesMax, retentionMs: DAY_MS });
  uniques.beginLoading(bytes.length / ROW_BYTES);
  await loadRows(uniques, chunksOf(bytes, size));
  for (const _step of uniques.settle());
  return uniques;
}

test.each([7, 24, 1_000, 1_000_000])("rows are read from chunks of %d bytes", async (size) => {
  const rows = rowsOf(500);
  const uniques = await loaded(bytesOf(rows), size);
  expect(uniques.size).toBe(500);
  for (const [offerId, affiliateId, visitor, atMs] of rows) {
    const visit = { offerId, affiliateId, visitor };
    expect(uniques.take(visit, atMs + DAY_MS - 1, DAY_MS)).toBe(false);
    expect(uniques.take(visit, atMs + DAY_MS, DAY_MS)).toBe(true);
  }
});

test("of several unique clicks of a visit the latest one counts, in any order of the rows", async () => {
  const rows = rowsOf(300);
  const later = rows.map(
    ([offer, partner, visitor, atMs]): Row => [offer, partner, visitor, atMs + 2 * DAY_MS],
  );
  for (const all of [
    [...rows, ...later],
    [...later, ...rows],
  ]) {
    const uniques = await loaded(bytesOf(all), 4_096);
    expect(uniques.size).toBe(300);
    for (const [offerId, affiliateId, visitor, atMs] of later) {
      expect(uniques.take({ offerId, affiliateId, visitor }, atMs + 1, DAY_MS)).toBe(false);
    }
  }
});

test("repeated clicks do not make visits forgotten that have room", async () => {
  const rows = rowsOf(900);
  const uniques = await loaded(bytesOf([...rows, ...rows, ...rows]), 4_096, 1_000);
  expect([uniques.size, uniques.forgotten]).toEqual([900, 0]);
});

test("more stored visits than there is room for are forgotten and counted", async () => {
  const uniques = await loaded(bytesOf(rowsOf(5_000)), 4_096, 1_000);
  expect(uniques.size).toBeLessThanOrEqual(1_000);
  expect(uniques.size + uniques.forgotten).toBe(5_000);
});

test.each(["Code: 159. DB::Exception: Timeout exceeded", "", "x", "a text of 24 characters."])(
  "an answer that ends too early is refused: %j",
  async (text) => {
    const rows = bytesOf(rowsOf(10));
    const cut = text === "" ? rows.subarray(0, rows.length - 1) : rows;
    const bytes = Buffer.concat([cut, Buffer.from(text)]);
    await expect(loaded(bytes, 100)).rejects.toThrow("ClickHouse");
  },
);
