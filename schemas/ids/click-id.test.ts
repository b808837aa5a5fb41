import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ClickIdMint,
  clickIdParts,
  isGenuineClickId,
  mintClickId,
  orderInMillisecond,
  parseClickId,
} from "./click-id.ts";

const secret = "ab".repeat(32);

test("an id tells its time, shard and producer and is genuine for its own secret only", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 47 }),
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 0, max: 65_535 }),
      (atMs, shard, producer) => {
        const mint = new ClickIdMint({ producer, secret, clock: { nowMs: () => atMs } });
        const one = mintClickId({ atMs, shard, producer }, secret);
        for (const id of [mint.mint(mint.nowMs(), shard), one]) {
          expect(parseClickId(id)).toBe(id);
          expect(clickIdParts(id)).toEqual({ atMs, shard, producer });
          expect(isGenuineClickId(id, secret)).toBe(true);
        }
      },
    ),
  );
});

test("of 2,000 ids with one digit changed nearly none passes as genuine", () => {
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => 1_700_000_000_000 } });
  let passed = 0;
  for (let i = 0; i < 2_000; i += 1) {
    const id = mint.mint(1_700_000_000_000, 3);
    const at = i % 28;
    const digit = id[at] === "0" ? "1" : "0";
    if (isGenuineClickId(id.slice(0, at) + digit + id.slice(at + 1), secret)) passed += 1;
  }
  expect(passed).toBeLessThan(4);
});

test("a genuine id with one bit of its random part flipped passes as rarely as any other", () => {
  let passed = 0;
  for (let at = 0; at < 10_000; at += 1) {
    const id = mintClickId({ atMs: at, shard: 3, producer: 1 }, secret);
    const place = 18 + (at % 10);
    const flipped = (Number.parseInt(id[place] ?? "0", 16) ^ (1 << (at % 4))).toString(16);
    if (isGenuineClickId(id.slice(0, place) + flipped + id.slice(place + 1), secret)) passed += 1;
  }
  expect(passed).toBeLessThan(6);
});

test("ids of one time that are minted one by one differ", () => {
  const parts = { atMs: 1, shard: 0, producer: 0 };
  const ids = new Set(Array.from({ length: 1_000 }, () => mintClickId(parts, secret)));
  expect(ids.size).toBe(1_000);
});

test("time does not go back with a small step of the clock", () => {
  let now = 1_000;
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => now } });
  expect(mint.nowMs()).toBe(1_000);
  now = 400;
  expect(mint.nowMs()).toBe(1_000);
});

test("time comes back with a clock that was an hour ahead (#11)", () => {
  let now = 10_000_000;
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => now } });
  now += 3_600_000;
  expect(mint.nowMs()).toBe(now);
  now -= 3_600_000;
  expect(mint.nowMs()).toBe(now);
  expect(clickIdParts(mint.mint(mint.nowMs(), 0)).atMs).toBe(now);
});

test("a millisecond that a producer lives through again gives no id twice, whatever chance does (#11)", () => {
  let now = 0;
  const clock = { nowMs: () => now };
  const mint = new ClickIdMint({ producer: 1, secret, clock, random: () => 7 });
  const ids: string[] = [];
  for (let era = 0; era < 4; era += 1) {
    now = 1_700_000_000_000;
    for (let i = 0; i < 1_000; i += 1) ids.push(mint.mint(mint.nowMs(), 0));
    now += 5_000;
    ids.push(mint.mint(mint.nowMs(), 0));
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test("ids of one millisecond differ, also past the end of the random pool", () => {
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => 1 } });
  const ids = new Set(Array.from({ length: 10_000 }, () => mint.mint(1, 0)));
  expect(ids.size).toBe(10_000);
});

test("no id of a millisecond is given twice, also when chance repeats itself", () => {
  let now = 1;
  const mint = new ClickIdMint({
    producer: 1,
    secret,
    clock: { nowMs: () => now },
    random: () => 1,
  });
  const next = (): string => mint.mint(mint.nowMs(), 0).slice(18, 28);
  expect([next(), next(), next()]).toEqual(["0000000000", "0000000004", "0000000008"]);
  now = 2;
  expect(next()).toBe("0000000000");
});

test("of the ids of a millisecond the one minted later is the higher one, in any shards (G113)", () => {
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => 1 } });
  const minted = Array.from({ length: 10_000 }, (_, index) => mint.mint(1, index % 5));
  expect(minted.map(orderInMillisecond).toSorted()).toEqual(minted.map(orderInMillisecond));
});

test("a millisecond whose ids are used up ends, and none is given twice", () => {
  const mint = new ClickIdMint({ producer: 1, secret, clock: { nowMs: () => 1 } });
  const ids = Array.from({ length: 150_000 }, () => mint.mint(mint.nowMs(), 0));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  const times = new Set(ids.map((id) => clickIdParts(id).atMs));
  expect(times.size).toBeGreaterThan(1);
  expect(times.size).toBeLessThan(6);
});

test("only 32 hex digits are a click id; upper case is read as lower", () => {
  expect(parseClickId("A".repeat(32))).toBe("a".repeat(32));
  expect(parseClickId("a".repeat(31))).toBeUndefined();
  expect(parseClickId(`${"a".repeat(31)}g`)).toBeUndefined();
});
