import { expect, test } from "vitest";
import { givenSort, nextSort, sortingOf } from "./list-sorting.ts";

const NAME = { name: "name", sort: "name" };
const AT = { name: "at", sort: "conv_ts", isNewestFirst: true };
const COLUMNS = [NAME, AT, { name: "status" }];
const given = (search: string): string | undefined =>
  givenSort(new URLSearchParams(search), COLUMNS);

test("an order of the address counts only if a column of the list has it", () => {
  expect(given("sort=-name")).toBe("-name");
  expect(given("sort=conv_ts")).toBe("conv_ts");
  for (const other of ["", "sort=", "sort=-", "sort=status", "sort=at", "sort=--name"])
    expect([other, given(other)]).toEqual([other, undefined]);
});

test("the header of the column that an order names says its direction", () => {
  expect(sortingOf("-conv_ts", COLUMNS)).toEqual({ name: "at", isDescending: true });
  expect(sortingOf("name", COLUMNS)).toEqual({ name: "name", isDescending: false });
  expect(sortingOf("-created_at", COLUMNS)).toBe(undefined);
});

test("names begin with A and times with the newest; the list's own order needs no word", () => {
  expect(nextSort(NAME, "-created_at", "-created_at")).toBe("name");
  expect(nextSort(NAME, "name", "-created_at")).toBe("-name");
  expect(nextSort(NAME, "-name", "-created_at")).toBe("name");
  expect(nextSort(AT, "-conv_ts", "-conv_ts")).toBe("conv_ts");
  expect(nextSort(AT, "conv_ts", "-conv_ts")).toBe(undefined);
  expect(nextSort(AT, "name", "-created_at")).toBe("-conv_ts");
});
