import { expect, test } from "vitest";
import { aCatalog } from "../../test/samples/a-catalog.ts";
import { affiliateNamed, offersNamed } from "./named-records.ts";

const CATALOG = aCatalog({
  workspaces: [{ id: 1 }, { id: 2, slug: "two" }],
  offers: [
    { id: 1, code: "2" },
    { id: 2, code: "TWO", workspace_id: 2 },
    { id: 3, code: "SAME" },
    { id: 4, code: "same", workspace_id: 2 },
  ],
  affiliates: [
    { id: 1, code: "2" },
    { id: 2, code: "PART02", workspace_id: 2 },
  ],
});

function idsOf(workspaceIds: readonly number[], code: string): number[] {
  return offersNamed(CATALOG, workspaceIds, code).map(({ id }) => id);
}

test("offers of one code come in the order of the workspaces (#13, G200)", () => {
  expect(idsOf([1, 2], "Same")).toEqual([3, 4]);
  expect(idsOf([2, 1], "Same")).toEqual([4, 3]);
  expect(idsOf([2], "Same")).toEqual([4]);
});

test("digits that another workspace has as a code still name a record by its id (#13, G25)", () => {
  expect(idsOf([2], "2")).toEqual([2]);
  expect(idsOf([1], "2")).toEqual([1]);
  expect(idsOf([2, 1], "2")).toEqual([1, 2]);
  expect(affiliateNamed(CATALOG, 2, "2")?.id).toBe(2);
  expect(affiliateNamed(CATALOG, 1, "2")?.id).toBe(1);
  expect(affiliateNamed(CATALOG, 3, "2")).toBeUndefined();
});
