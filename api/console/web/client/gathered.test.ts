import { expect, test } from "vitest";
import { Gathered } from "./gathered.ts";

test("keys that are asked for together are one request, and each gets its own value", async () => {
  const requests: number[][] = [];
  const gathered = new Gathered<number, string>(100, (keys) => {
    requests.push([...keys]);
    return Promise.resolve(new Map(keys.map((key) => [key, `value ${key}`])));
  });
  const answers = await Promise.all([1, 2, 2, 3].map((key) => gathered.ask(key)));
  expect(answers).toEqual(["value 1", "value 2", "value 2", "value 3"]);
  expect(await gathered.ask(4)).toBe("value 4");
  expect(requests).toEqual([[1, 2, 3], [4]]);
});

test("no request has more keys than allowed, and a missing value is undefined", async () => {
  const sizes: number[] = [];
  const gathered = new Gathered<number, string>(2, (keys) => {
    sizes.push(keys.length);
    return Promise.resolve(new Map());
  });
  const answers = await Promise.all([1, 2, 3, 4, 5].map((key) => gathered.ask(key)));
  expect(answers).toEqual([undefined, undefined, undefined, undefined, undefined]);
  expect(sizes).toEqual([2, 2, 1]);
});

test("a failed request fails every key of it, and the next one is tried anew", async () => {
  let fails = true;
  const gathered = new Gathered<number, string>(10, () =>
    fails ? Promise.reject(new Error("away")) : Promise.resolve(new Map([[1, "back"]])),
  );
  const both = await Promise.allSettled([gathered.ask(1), gathered.ask(2)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await gathered.ask(1)).toBe("back");
});
