import { expect, test } from "vitest";
import { SCREEN_KEYS, wishOf } from "./key-presses.ts";

test("the key after g names a screen, also where it has a meaning of its own", () => {
  const g = { key: "g", atMs: 1_000 };
  expect(wishOf(g, undefined)).toEqual({ kind: "begin" });
  expect(wishOf({ key: "a", atMs: 1_900 }, g)).toEqual({ kind: "screen", key: "a" });
});

test("a g of long ago is forgotten", () => {
  expect(wishOf({ key: "a", atMs: 9_000 }, { key: "g", atMs: 1_000 })).toEqual({ kind: "approve" });
});

test("other keys mean nothing, also names of every object", () => {
  expect(wishOf({ key: "q", atMs: 0 }, undefined)).toBeUndefined();
  expect(wishOf({ key: "constructor", atMs: 0 }, undefined)).toBeUndefined();
});

test("no role has two screens with one key", () => {
  const shared = new Set(["/integrations", "/postbacks", "/workspace", "/account"]);
  const keys = [...SCREEN_KEYS].filter(([path]) => !shared.has(path)).map(([, key]) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
