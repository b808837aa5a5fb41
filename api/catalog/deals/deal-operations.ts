import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { adminWrite, everyRole } from "../../access/access-of-operations.ts";
import { type Resource, showTo } from "../../access/visibility.ts";
import {
  longText,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownTime,
  targetUrl,
  text,
} from "../../fields/body-fields.ts";
import { time } from "../../fields/catalog-fields.ts";
import { field, textField } from "../../fields/field.ts";
import { unpagedParams } from "../../http/query-fields.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { type ManagedOperations, manage } from "../../records/manage.ts";
import { periodFaults } from "../management/period-faults.ts";
import { findAdvertiserOfOffer, findNames, listDealsOf, listFeedsOf } from "./deals.ts";

const STATUSES = ["active", "inactive"] as const;
const FORMATS = ["csv", "tsv", "xml", "json"] as const;
const COUPON_CODE_MAX = 64;
/** Bounds the lists, which are returned without paging. */
const RECORDS_MAX = 2_000;

type Body = Readonly<Record<string, unknown>>;

/** Common to deals and product feeds. */
const COMMON_FIELDS = {
  tag: "Deals",
  recordsMax: RECORDS_MAX,
  // The contract does not show `created_at`.
  readOnly: { id: z.int(), updated_at: shownTime },
  read: { ...everyRole("deals.read"), staffPermission: "advertisers.read" },
  write: adminWrite("advertisers.write"),
  references: { advertiser_id: "advertiser", offer_id: "offer" },
  shown: {
    advertiser: z.string().meta({ description: "Name of the advertiser" }),
    offer_name: z.string().meta({ description: "Empty without an offer" }),
  },
  present: async ({ db }: OperationContext, row: Body): Promise<Body> => ({
    ...row,
    ...(await findNames(db, { advertiserId: row["advertiser_id"], offerId: row["offer_id"] })),
  }),
} as const;

const ownerFields = {
  advertiser_id: field(recordId, { shown: z.int(), required: true }),
  offer_id: field(recordId.nullable(), {
    shown: z.int().nullable().meta({ description: "null: of the whole advertiser" }),
    unset: null,
  }),
};

const deals = manage({
  ...COMMON_FIELDS,
  resource: "deal",
  names: { one: "Deal", many: "Deals" },
  path: "/deals",
  table: "deal",
  fields: {
    ...ownerFields,
    title: field(name(), { shown: z.string(), required: true }),
    description: textField(longText()),
    coupon_code: textField(text(COUPON_CODE_MAX)),
    landing_url: textField(orEmpty(targetUrl)),
    starts_at: field(time.nullable(), { shown: shownTime.nullable(), unset: null }),
    ends_at: field(time.nullable(), { shown: shownTime.nullable(), unset: null }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
  },
  findFaults: async (context, values) => ({
    ...periodFaults(values),
    ...(await ownerFaults(context, values)),
  }),
});

const productFeeds = manage({
  ...COMMON_FIELDS,
  resource: "product_feed",
  names: { one: "ProductFeed", many: "ProductFeeds" },
  path: "/product-feeds",
  table: "product_feed",
  fields: {
    ...ownerFields,
    name: field(name(), { shown: z.string(), required: true }),
    feed_url: field(targetUrl, { shown: z.string(), required: true }),
    format: field(oneOf(...FORMATS), { shown: z.enum(FORMATS), unset: "csv" }),
    description: textField(longText()),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
  },
  findFaults: ownerFaults,
});

/** Deals and product feeds: all roles read the lists, admins write. */
export const dealOperations: readonly Operation[] = [
  listOf("deal", { managed: deals, list: listDealsOf }),
  ...writesOf(deals),
  listOf("product_feed", { managed: productFeeds, list: listFeedsOf }),
  ...writesOf(productFeeds),
];

/** Replaces the paged list with one that returns all records at once. */
function listOf(
  resource: Resource,
  {
    managed: { list, Shown },
    list: listRows,
  }: {
    readonly managed: ManagedOperations;
    readonly list: (db: Queryable, principal: Principal) => Promise<readonly Body[]>;
  },
): Operation {
  return operation({
    name: list.name,
    method: "GET",
    path: list.path,
    tag: list.tag,
    summary: `List ${resource.replaceAll("_", " ")}s`,
    description: "All that the key sees, at once, newest first.",
    access: list.access,
    input: { query: z.object(unpagedParams) },
    output: z.object({ data: z.array(Shown), next_cursor: z.null() }),
    status: 200,
    run: async ({ db, principal }) => {
      const rows = await listRows(db, principal);
      const data = rows.map((row) => showTo(principal.role, resource, row));
      return { body: { data, next_cursor: null } };
    },
  });
}

function writesOf({ create, update, remove }: ManagedOperations): Operation[] {
  return [create, update, remove];
}

/** The offer must belong to the advertiser. */
async function ownerFaults(
  { db, workspace }: OperationContext,
  values: Body,
): Promise<FieldFaults> {
  const offerId = recordId.safeParse(values["offer_id"]);
  if (!offerId.success) return {};
  const owner = await findAdvertiserOfOffer(db, workspace.id, offerId.data);
  return owner === undefined || owner === values["advertiser_id"]
    ? {}
    : { offer_id: "not an offer of this advertiser" };
}
