import { expect, test } from "vitest";
import { joinProjections } from "./join-projections.ts";

const add = (table: string, name: string): string =>
  `alter table ${table} add projection if not exists ${name}\n(\n  select a, count() group by a\n)`;

test("changes of projections of one table that follow each other are one statement, in their order", () => {
  const drop = "alter table click drop projection if exists by_day";
  expect(joinProjections([add("click", "a"), add("click", "b"), drop])).toEqual([
    `${add("click", "a")},\n${add("click", "b").slice("alter table click ".length)},\n${drop.slice("alter table click ".length)}`,
  ]);
});

test("another table, and any other statement between them, begins a new statement", () => {
  const setting = "alter table click modify setting fsync_after_insert = 1";
  const statements = [
    add("click", "a"),
    add("impression", "a"),
    "alter table impression materialize projection a",
    add("impression", "b"),
    setting,
    setting,
  ];
  expect(joinProjections(statements)).toEqual(statements);
});
