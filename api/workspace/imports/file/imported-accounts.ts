import { advertisers } from "../../../catalog/advertisers/advertisers.ts";
import { affiliates } from "../../../catalog/affiliates/affiliates.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import type { ManagedOperations } from "../../../records/manage.ts";
import type { FileRow } from "./file-row.ts";
import { findAdvertisersByNames, findAffiliatesByCodes } from "./find-keys.ts";
import type { Caller, ImportedKind, ImportedRow, ResolvedRow } from "./imported-row.ts";

/** Partners, matched by code. */
export const importedAffiliates: ImportedKind = {
  noun: "affiliate",
  plural: "affiliates",
  keyField: "code",
  create: affiliates.createImported,
  extras: {},
  findByKeys: findAffiliatesByCodes,
  resolve: unchangedRows,
  apply: applyWith(affiliates, "code"),
};

/** Advertisers, matched by name. */
export const importedAdvertisers: ImportedKind = {
  noun: "advertiser",
  plural: "advertisers",
  keyField: "name",
  create: advertisers.createImported,
  extras: {},
  findByKeys: findAdvertisersByNames,
  resolve: unchangedRows,
  apply: applyWith(advertisers, "name"),
};

function unchangedRows(
  _context: OperationContext,
  rows: readonly FileRow[],
): Promise<ResolvedRow[]> {
  return Promise.resolve(
    rows.map(({ number, fields }) => ({ number, body: fields, partners: [], faults: {} })),
  );
}

function applyWith(kind: ManagedOperations, keyField: string): ImportedKind["apply"] {
  return async (_context: OperationContext, row: ImportedRow, call: Caller) => {
    if (row.id === undefined) await call(kind.createImported, { body: row.body });
    else {
      // The key found the record. Its stored spelling stays.
      const { [keyField]: _key, ...body } = row.body;
      await call(kind.update, { path: { id: String(row.id) }, body });
    }
  };
}
