import { expect, test } from "vitest";
import { Catalog } from "./catalog.ts";
import { type CatalogEntry, parseCatalogEntry } from "./entry.ts";

let version = 0;

function anEntry(
  kind: CatalogEntry["kind"],
  record: { readonly id: number; readonly [field: string]: unknown } | null,
  id?: number,
): CatalogEntry {
  version += 1;
  const entry = parseCatalogEntry({ kind, id: String(record?.id ?? id), version, record });
  if (entry === undefined) throw new Error(`unknown kind ${kind}`);
  return entry;
}

function aRule(id: number, fields: Record<string, unknown> = {}): CatalogEntry {
  const rule = { workspace_id: 1, name: `r${id}`, position: 0, status: "active", action: "hold" };
  return anEntry("conversion_rule", { id, ...rule, conditions: {}, ...fields });
}

function aGroup(id: number, offer_ids: readonly number[]): CatalogEntry {
  return anEntry("offer_group", { id, workspace_id: 1, name: "g", offer_ids, caps: {} });
}

function aCoupon(id: number, fields: Record<string, unknown> = {}): CatalogEntry {
  const times = { starts_at_ms: null, ends_at_ms: null };
  const coupon = {
    workspace_id: 1,
    code: "Save",
    offer_id: null,
    affiliate_id: 1,
    status: "active",
  };
  return anEntry("coupon", { id, ...coupon, ...times, ...fields });
}

test("the active rules of a workspace come in their order, also after a change and a removal (G100)", () => {
  const catalog = new Catalog();
  const ids = (): number[] => catalog.rulesOf(1).map(({ id }) => id);
  expect(ids()).toEqual([]);
  catalog.apply([aRule(3, { position: 1 }), aRule(2, { position: 1 }), aRule(1, { position: 2 })]);
  catalog.apply([aRule(4, { workspace_id: 2 }), aRule(5, { status: "paused" })]);
  expect(ids()).toEqual([2, 3, 1]);
  catalog.apply([aRule(1, { position: 0 }), anEntry("conversion_rule", null, 2)]);
  expect(ids()).toEqual([1, 3]);
});

test("an offer's groups follow what the groups say of their offers (G105)", () => {
  const catalog = new Catalog();
  const ids = (offerId: number): number[] => catalog.groupsOf(offerId).map(({ id }) => id);
  catalog.apply([aGroup(1, [10, 11, 11]), aGroup(2, [11])]);
  expect([ids(10), ids(11), ids(12)]).toEqual([[1], [1, 2], []]);
  catalog.apply([aGroup(1, [12]), anEntry("offer_group", null, 2)]);
  expect([ids(10), ids(11), ids(12)]).toEqual([[], [], [1]]);
});

test("a coupon is found in its workspace by its code in any case (G115)", () => {
  const catalog = new Catalog();
  catalog.apply([aCoupon(1), aCoupon(2, { workspace_id: 2, code: "SAVE" })]);
  expect([1, 2, 3].map((workspace) => catalog.couponByCode(workspace, "sAvE")?.id)).toEqual([
    1,
    2,
    undefined,
  ]);
  catalog.apply([aCoupon(1, { code: "Other" })]);
  expect(catalog.couponByCode(1, "save")).toBeUndefined();
  catalog.apply([anEntry("coupon", null, 1)]);
  expect(catalog.couponByCode(1, "other")).toBeUndefined();
});
