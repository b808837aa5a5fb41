import { expect, test } from "vitest";
import { type ListColumns, withColumns } from "./kept-columns.ts";

const LISTS: readonly ListColumns[] = [
  { list: "offers", columns: ["name", "-code"] },
  { list: "clicks", columns: ["at"] },
];

test("columns of one list replace its own and leave the others", () => {
  expect(withColumns(LISTS, "clicks", ["at", "status"])).toEqual([
    { list: "clicks", columns: ["at", "status"] },
    { list: "offers", columns: ["name", "-code"] },
  ]);
  expect(withColumns(LISTS, "offers", undefined)).toEqual([{ list: "clicks", columns: ["at"] }]);
});

test("no more lists are kept than the API takes: the list that was changed longest ago goes", () => {
  let lists: readonly ListColumns[] = [];
  for (let at = 0; at < 50; at += 1) lists = withColumns(lists, `list-${at}`, ["name"]);
  expect(lists).toHaveLength(40);
  expect(lists[0]?.list).toBe("list-49");
});
