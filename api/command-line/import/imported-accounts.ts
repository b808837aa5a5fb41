import { createAdvertiser } from "../../advertisers/create-advertiser.ts";
import { updateAdvertiser } from "../../advertisers/update-advertiser.ts";
import { createAffiliate } from "../../affiliates/create-affiliate.ts";
import { updateAffiliate } from "../../affiliates/update-affiliate.ts";
import type { Operation, OperationContext } from "../../operation.ts";
import type { FileRow } from "./file-rows.ts";
import { findAdvertisersByNames, findAffiliatesByCodes } from "./find-keys.ts";
import type { Caller, ImportedKind, ImportedRow, ResolvedRow } from "./imported-row.ts";

/** Partners, known by their codes. */
export const importedAffiliates: ImportedKind = {
  noun: "affiliate",
  plural: "affiliates",
  keyField: "code",
  create: createAffiliate,
  extras: {},
  findByKeys: findAffiliatesByCodes,
  resolve: asTheyAre,
  apply: applyWith({ create: createAffiliate, update: updateAffiliate, keyField: "code" }),
};

/** Advertisers, known by their names. */
export const importedAdvertisers: ImportedKind = {
  noun: "advertiser",
  plural: "advertisers",
  keyField: "name",
  create: createAdvertiser,
  extras: {},
  findByKeys: findAdvertisersByNames,
  resolve: asTheyAre,
  apply: applyWith({ create: createAdvertiser, update: updateAdvertiser, keyField: "name" }),
};

async function asTheyAre(
  _context: OperationContext,
  rows: readonly FileRow[],
): Promise<ResolvedRow[]> {
  return await Promise.resolve(
    rows.map(({ number, fields }) => ({ number, body: fields, partners: [], faults: {} })),
  );
}

function applyWith(kind: {
  readonly create: Operation;
  readonly update: Operation;
  readonly keyField: string;
}): ImportedKind["apply"] {
  return async (_context: OperationContext, row: ImportedRow, call: Caller) => {
    if (row.id === undefined) await call(kind.create, { body: row.body });
    else {
      const { [kind.keyField]: _key, ...body } = row.body;
      await call(kind.update, { path: { id: String(row.id) }, body });
    }
  };
}
