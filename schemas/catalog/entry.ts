import { hash } from "node:crypto";
import { z } from "zod";
import {
  Advertiser,
  AdvertiserOldToken,
  Affiliate,
  BlocklistEntry,
  CodeAlias,
  ConversionRule,
  Coupon,
  Installation,
  LinkKey,
  Offer,
  OfferAccess,
  OfferEvent,
  OfferGroup,
  PayoutOverride,
  SmartLink,
  TrackingDomain,
  TrafficControl,
  TrafficSourceTemplate,
  Workspace,
  WorkspaceBlocklistEntry,
} from "./records.ts";

/** Every kind of record of the catalog; the view `catalog_entry` gives the same kinds. */
export const catalogKinds = {
  installation: Installation,
  workspace: Workspace,
  advertiser: Advertiser,
  offer: Offer,
  offer_event: OfferEvent,
  affiliate: Affiliate,
  offer_access: OfferAccess,
  payout_override: PayoutOverride,
  tracking_domain: TrackingDomain,
  link_key: LinkKey,
  smart_link: SmartLink,
  traffic_source_template: TrafficSourceTemplate,
  traffic_control: TrafficControl,
  blocklist_entry: BlocklistEntry,
  workspace_blocklist_entry: WorkspaceBlocklistEntry,
  offer_group: OfferGroup,
  conversion_rule: ConversionRule,
  coupon: Coupon,
  code_alias: CodeAlias,
  advertiser_old_token: AdvertiserOldToken,
};

export type CatalogKind = keyof typeof catalogKinds;
export type CatalogRecords = { [Kind in CatalogKind]: z.infer<(typeof catalogKinds)[Kind]> };

/** One changed record; `record` is null if it was deleted. `id` is unique within its kind. */
export type CatalogEntry = {
  [Kind in CatalogKind]: {
    readonly kind: Kind;
    readonly id: string;
    readonly version: number;
    readonly record: CatalogRecords[Kind] | null;
  };
}[CatalogKind];

const Envelope = z.object({
  kind: z.string(),
  id: z.string(),
  version: z.int().nonnegative(),
  record: z.unknown(),
});

/**
 * Reads an entry from Postgres or from the copy on disk. Undefined for a kind that this release does not know: a newer
 * release may have added one. @throws {ZodError} for a record that does not fit its kind.
 */
export function parseCatalogEntry(value: unknown): CatalogEntry | undefined {
  const { kind, id, version, record } = Envelope.parse(value);
  if (!isCatalogKind(kind)) return undefined;
  const parsed = record === null ? null : catalogKinds[kind].parse(record);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of `kind` has just been applied; the compiler cannot tie the two unions together
  return { kind, id, version, record: parsed } as CatalogEntry;
}

let shape: string | undefined;

/** A hash of all record schemas. Releases with different hashes read records differently. */
export function catalogShape(): string {
  shape ??= hash(
    "sha256",
    JSON.stringify(z.toJSONSchema(z.object(catalogKinds), { unrepresentable: "any" })),
    "hex",
  ).slice(0, 16);
  return shape;
}

/** Entries of records of one kind. */
export function* entriesOf<Kind extends CatalogKind>(
  kind: Kind,
  records: Iterable<CatalogRecords[Kind]>,
  version: number,
): Generator<CatalogEntry> {
  for (const record of records) {
    const entry: unknown = { kind, id: entryId(record), version, record };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kind and record fit by the parameters; the compiler cannot tie the two unions together
    yield entry as CatalogEntry;
  }
}

/** The id as in the view `catalog_entry`: an access record has no id of its own. */
function entryId(record: CatalogRecords[CatalogKind]): string {
  return "id" in record ? String(record.id) : `${record.offer_id}-${record.affiliate_id}`;
}

function isCatalogKind(kind: string): kind is CatalogKind {
  return Object.hasOwn(catalogKinds, kind);
}
