import { expect, test } from "vitest";
import { FaultList } from "./file/fault-list.ts";
import { storableText, storedFaults } from "./stored-faults.ts";

test("faults keep row, field and message, and say how many more a row has", () => {
  const list = new FaultList(2);
  list.add(2, { name: "required", "": "has 2 cells" });
  list.add(3, Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`f${i}`, "unknown field"])));
  list.add(4, { name: "required" });
  const stored = storedFaults(list.kept);
  expect(stored.slice(0, 2)).toEqual([
    { row: 2, field: "name", message: "required" },
    { row: 2, field: "", message: "has 2 cells" },
  ]);
  expect(stored.at(-1)).toEqual({ row: 3, field: "", message: "has 3 more faults" });
  expect(stored).toHaveLength(2 + 20 + 1);
  expect(list.rows.size).toBe(3);
});

test.each([
  ["a\0b", "a\uFFFDb"],
  ["\ud800x", "\uFFFDx"],
  ["x".repeat(30), `${"x".repeat(9)}…`],
  [`${"x".repeat(8)}\u{1F600}tail`, `${"x".repeat(8)}\uFFFD…`],
])("the text %j becomes storable", (text, stored) => {
  expect(storableText(text, 10)).toBe(stored);
});
