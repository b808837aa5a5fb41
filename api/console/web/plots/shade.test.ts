import { expect, test } from "vitest";
import { SHADES, shadeOf } from "./shade.ts";

test("zero, nothing and a negative amount have no shade", () => {
  const none = { fill: "var(--ground-3)", fillOpacity: 1 };
  expect(shadeOf(0, 10)).toEqual(none);
  expect(shadeOf(null, 10)).toEqual(none);
  expect(shadeOf("-3.0000", 10)).toEqual(none);
  expect(shadeOf(0, 0)).toEqual(none);
});

test("more is never lighter, and the largest is the darkest", () => {
  const shades = Array.from({ length: 100 }, (_, at) => shadeOf(at + 1, 100).fillOpacity);
  expect(shades).toEqual([...shades].sort((one, other) => one - other));
  expect(shades.at(-1)).toBe(SHADES.at(-1));
  expect(shades[0]).toBe(SHADES[0]);
});
