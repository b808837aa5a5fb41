import { expect, test } from "vitest";
import { aCatalog, apply } from "../../test/samples/a-catalog.ts";
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

const ALIASED = aCatalog({
  workspaces: [{ id: 1 }, { id: 2, slug: "two" }],
  offers: [
    { id: 1, code: "SHOP" },
    { id: 7, code: "TWO", workspace_id: 2 },
  ],
  affiliates: [{ id: 1, code: "PART01" }],
  aliases: [
    { id: 1, alias: "Old.1", target_id: 1 },
    { id: 2, alias: "7", target_id: 1 },
    { id: 3, alias: "TWO", target_id: 1 },
    { id: 4, alias: "9", kind: "affiliate", target_id: 1 },
    { id: 5, alias: "foreign", target_id: 7 },
    { id: 6, alias: "shop", workspace_id: 2, target_id: 7 },
  ],
});
const aliased = (workspaceIds: readonly number[], code: string): number[] =>
  offersNamed(ALIASED, workspaceIds, code).map(({ id }) => id);

test("an alias names a record in any case, of its own kind and workspace only (N112)", () => {
  expect(aliased([1], "OLD.1")).toEqual([1]);
  expect(aliased([2], "old.1")).toEqual([]);
  expect(aliased([1, 2], "foreign")).toEqual([]);
  expect(aliased([1], "9")).toEqual([]);
  expect(affiliateNamed(ALIASED, 1, "9")?.id).toBe(1);
  expect(affiliateNamed(ALIASED, 2, "9")).toBeUndefined();
});

test("codes and ids of a workspace go before its aliases, and before those of the others (N112)", () => {
  expect(aliased([2], "7")).toEqual([7]);
  expect(aliased([1], "7")).toEqual([1]);
  expect(aliased([1, 2], "7")).toEqual([7, 1]);
  expect(aliased([1, 2], "TWO")).toEqual([7, 1]);
  expect(aliased([2, 1], "SHOP")).toEqual([1, 7]);
  expect(aliased([1], "SHOP")).toEqual([1]);
});

test("an alias that is removed names nothing, and a changed one names its new record (N112)", () => {
  const catalog = aCatalog({
    offers: [{ id: 1 }, { id: 2, code: "B" }],
    aliases: [{ id: 1, alias: "old-1" }],
  });
  apply(catalog, { aliases: [{ id: 1, alias: "old-2", target_id: 2 }] });
  expect(offersNamed(catalog, [1], "old-1")).toEqual([]);
  expect(offersNamed(catalog, [1], "old-2").map(({ id }) => id)).toEqual([2]);
  catalog.apply([{ kind: "code_alias", id: "1", version: 99, record: null }]);
  expect(offersNamed(catalog, [1], "old-2")).toEqual([]);
  expect(catalog.aliases.isEmpty).toBe(true);
});
