import { expect, test } from "vitest";
import { aCatalog, apply } from "../../test/samples/a-catalog.ts";

test("all hosts of a flood of clicks share one list of workspaces (#0, P40, G153)", () => {
  const catalog = aCatalog({ workspaces: [{ id: 1 }, { id: 2 }] });
  const lists = Array.from({ length: 100 }, (_, n) => catalog.workspaceIdsOfHost(`h${n}.example`));
  expect(new Set(lists).size).toBe(1);
  expect(lists[0]).toEqual([1, 2]);
  apply(catalog, { workspaces: [{ id: 3 }] });
  expect(catalog.workspaceIdsOfHost("h1.example")).toEqual([1, 2, 3]);
});
