import { expect, test } from "vitest";
import { filterFor, filtersIn, withFilters } from "./filters.ts";

test("a value with the signs of the grammar stays one value through an address", () => {
  const filter = filterFor("sub1", "a,b|c:d%");
  const search = new URLSearchParams({ filters: [filter, "country:in:DE"].join(",") });
  const [first = "", second] = filtersIn(new URLSearchParams(search.toString()));
  expect(second).toBe("country:in:DE");
  expect(decodeURIComponent(first.slice("sub1:in:".length))).toBe("a,b|c:d%");
});

test("a row without the dimension is asked for by an operator, and ID 0 as an ID", () => {
  expect(filterFor("country", "")).toBe("country:empty");
  expect(filterFor("country", null)).toBe("country:empty");
  expect(filterFor("offer", 0)).toBe("offer:in:0");
});

test("the same filter is there once", () => {
  expect(withFilters(["a:in:1"], ["a:in:1", "b:in:2"])).toEqual(["a:in:1", "b:in:2"]);
});
