import { expect, test } from "vitest";
import { type Column, table } from "./table.ts";

const COLUMNS: readonly Column<{ readonly id: number; readonly name: string }>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "SINCE", value: () => "2026-11-21T10:58:59.123Z" },
];

test("a table keeps to 80 columns and cuts the widest one", () => {
  const lines = table(
    COLUMNS,
    [
      { id: 1, name: "x".repeat(200) },
      { id: 20, name: "y" },
    ],
    "",
  ).split("\n");
  expect(lines[0]).toMatch(/^ID {2}NAME +SINCE$/);
  expect(lines[1]).toMatch(/^1 {3}x+… {2}2026-11-21 10:58$/);
  expect(lines[1]).toHaveLength(80);
  expect(lines[2]).toMatch(/^20 {2}y +2026-11-21 10:58$/);
});

test("control characters in a name do not reach the terminal", () => {
  expect(table(COLUMNS, [{ id: 1, name: "a\u001B[2Jb\nc\u009B" }], "")).toContain("a?[2Jb?c?");
});

test("a table without rows shows what to do", () => {
  expect(table(COLUMNS, [], "There is none.")).toBe("There is none.");
});
