import { expect, test } from "vitest";
import { guessForm } from "./guess-file.ts";

test.each([
  ["partners.csv", "code,name\nA,B", "csv", ","],
  ["partners.csv", "code;name;notes\nA;B,C;D", "csv", ";"],
  ["", "code\tname\nA\tB", "csv", "tab"],
  ["", '\uFEFF"name, of it";code\n', "csv", ";"],
  ["one-column.txt", "name\nA;B", "csv", ","],
  ["offers.jsonl", '{"name":"A"}', "json", ","],
  ["OFFERS.JSON", "[]", "json", ","],
  ["", ' \n [{"name":"A"}]', "json", ","],
  ["odd.csv", "{a},b\n", "csv", ","],
  ["", "", "csv", ","],
] as const)("%j that begins with %j is read as %s", (name, beginning, format, delimiter) => {
  expect(guessForm(name, beginning)).toEqual({ format, delimiter });
});
