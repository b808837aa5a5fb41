import { expect, test } from "vitest";
import { WorkPool } from "./work-pool.ts";

/** Work that runs until `end` is called. */
function piece(): { readonly work: () => Promise<string>; readonly end: (word: string) => void } {
  let end: (word: string) => void = () => undefined;
  const done = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { work: () => done, end };
}

async function settled<T>(
  results: readonly (Promise<T> | undefined)[],
): Promise<(T | undefined)[]> {
  return await Promise.all(results.map(async (result) => await result));
}

test("work above the limit waits in order, and work above the waiting limit is refused (#16)", async () => {
  const pool = new WorkPool({ costMax: 2, waitingMax: 2 });
  const pieces = Array.from({ length: 5 }, piece);
  const results = pieces.map(({ work }) => pool.run(work));
  expect(results[4]).toBeUndefined();
  expect([pool.underWay, pool.waiting]).toEqual([2, 2]);
  pieces[1]?.end("b");
  expect(await results[1]).toBe("b");
  expect([pool.underWay, pool.waiting]).toEqual([2, 1]);
  pieces[3]?.end("d");
  for (const [index, word] of [
    [0, "a"],
    [2, "c"],
  ] as const)
    pieces[index]?.end(word);
  expect(await settled(results)).toEqual(["a", "b", "c", "d", undefined]);
  await pool.drained();
  expect([pool.underWay, pool.waiting]).toEqual([0, 0]);
});

test("work waits until its cost fits, and work that costs more than the pool runs alone", async () => {
  const pool = new WorkPool({ costMax: 4, waitingMax: 2 });
  const [cheap, dear, last] = [piece(), piece(), piece()];
  const results = [pool.run(cheap.work), pool.run(dear.work, 9), pool.run(last.work)];
  expect([pool.underWay, pool.waiting]).toEqual([1, 2]);
  cheap.end("cheap");
  await results[0];
  expect([pool.underWay, pool.waiting]).toEqual([1, 1]);
  dear.end("dear");
  last.end("last");
  expect(await settled(results)).toEqual(["cheap", "dear", "last"]);
});

test("work that fails frees its share of the pool", async () => {
  const pool = new WorkPool({ costMax: 1 });
  await expect(pool.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await pool.run(() => Promise.resolve("yes"))).toBe("yes");
});
