import { expect, test } from "vitest";
import { largestMoves } from "./largest-moves.ts";

test("rows are ordered by how far they moved, up or down, and those that stayed are left out", () => {
  const rows = [
    { offer: 1, now: 1_000, before: 990 },
    { offer: 2, now: null, before: "400.0000" },
    { offer: 3, now: 50, before: 50 },
    { offer: 4, now: 90, before: undefined },
  ];
  const moved = largestMoves(rows, ({ now, before }) => [now, before]);
  expect(moved.map(({ offer }) => offer)).toEqual([2, 4, 1]);
});
