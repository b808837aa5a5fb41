import { z } from "zod";
import { PAYMENT_TERMS } from "../../../schemas/billing/periods.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import {
  country,
  currency,
  email,
  longText,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownCurrency,
  shownTime,
  tags,
  text,
} from "../../fields/body-fields.ts";
import { field } from "../../fields/field.ts";
import { isAnyOf, matches } from "../../http/filter-conditions.ts";
import { byName } from "../../http/list-order.ts";
import { idsParam, textParam, wordParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";
import { forgetOldTokens, mintPostbackToken } from "./own-tokens.ts";

export const ADVERTISER_STATUSES = ["active", "paused", "inactive"] as const;
/** G56. */
const BILLING_TERMS = [...PAYMENT_TERMS, "prepaid"] as const;

/** Owners of offers. A new advertiser's currency is the workspace's (ADV-004). */
export const advertisers = manage({
  resource: "advertiser",
  names: { one: "Advertiser", many: "Advertisers" },
  path: "/advertisers",
  tag: "Advertisers",
  descriptions: { create: "The answer contains its postback token." },
  table: "advertiser",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    status: field(oneOf(...ADVERTISER_STATUSES), {
      shown: z.enum(ADVERTISER_STATUSES),
      unset: "active",
    }),
    company: field(text(), { shown: z.string(), unset: "" }),
    contact_name: field(text(), { shown: z.string(), unset: "" }),
    email: field(orEmpty(email), { shown: z.string(), unset: "" }),
    phone: field(text(), { shown: z.string(), unset: "" }),
    website: field(text(), { shown: z.string(), unset: "" }),
    country: field(orEmpty(country), { shown: z.string(), unset: "" }),
    notes: field(longText(), { shown: z.string(), unset: "" }),
    currency: field(currency, { shown: shownCurrency }),
    account_manager_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
    billing_terms: field(oneOf(...BILLING_TERMS), { shown: z.string(), unset: "net30" }),
    tags: field(tags, { shown: z.array(z.string()), unset: [] }),
  },
  generated: ({ workspace }) => ({ currency: workspace.currency }),
  readOnly: {
    id: z.int(),
    postback_token: z.string(),
    created_at: shownTime,
    updated_at: shownTime,
  },
  secret: {
    column: "postback_token",
    mint: mintPostbackToken,
    forgetEarlier: forgetOldTokens,
    operation: {
      name: "rotateAdvertiserToken",
      pathEnd: "rotate-postback-token",
      summary: "Rotate the postback token of an advertiser",
      description: "The old token stops working within a second.",
    },
  },
  filters: {
    status: wordParam(...ADVERTISER_STATUSES),
    q: textParam.meta({ description: "Part of the name, company or e-mail" }),
    ids: idsParam.meta({ description: "Comma-separated ids" }),
  },
  conditions: { q: matches(["name", "company", "email"]), ids: isAnyOf("id") },
  sorts: { name: byName("name") },
  read: staff("advertisers.read"),
  write: adminWrite("advertisers.write"),
  references: { account_manager_id: "user" },
});
