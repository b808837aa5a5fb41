import { expect, test } from "vitest";
import { BoundedCache } from "./bounded-cache.ts";

test("it never exceeds its bound, and keeps entries that are used", () => {
  const cache = new BoundedCache<{ n: number }>(100);
  cache.set("kept", { n: -1 });
  let sizeMax = 0;
  for (let n = 0; n < 10_000; n += 1) {
    cache.set(`key ${n}`, { n });
    cache.get("kept");
    sizeMax = Math.max(sizeMax, cache.size);
  }
  expect(sizeMax).toBeLessThanOrEqual(100);
  expect(cache.get("kept")).toEqual({ n: -1 });
  expect(cache.get("key 1")).toBeUndefined();
  expect(cache.get("key 9999")).toEqual({ n: 9_999 });
});
