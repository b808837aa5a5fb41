import type { OperationAccess } from "../../operation/operation.ts";
import type { Permission } from "../../operation/permissions.ts";
import { importedAdvertisers, importedAffiliates } from "./file/imported-accounts.ts";
import { importedOffers } from "./file/imported-offers.ts";
import type { ImportedKind } from "./file/imported-row.ts";

export const IMPORT_KINDS = ["offers", "affiliates", "advertisers"] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What a file of each kind contains. */
export const IMPORTED: Readonly<Record<ImportKind, ImportedKind>> = {
  offers: importedOffers,
  affiliates: importedAffiliates,
  advertisers: importedAdvertisers,
};

/** What a caller needs to import records of a kind: the same as to create one of them. */
export function accessOfKind(kind: ImportKind): OperationAccess {
  return IMPORTED[kind].create.access;
}

/** The kinds whose records a caller with these permissions may read or write. The caller does not see imports of other kinds. */
export function visibleKinds(permissions: readonly Permission[]): readonly ImportKind[] {
  return IMPORT_KINDS.filter(
    (kind) => permissions.includes(`${kind}.read`) || permissions.includes(`${kind}.write`),
  );
}
