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
    name: name(),
    status: oneOf(...ADVERTISER_STATUSES),
    company: text(),
    contact_name: text(),
    email: orEmpty(email),
    phone: text(),
    website: text(),
    country: orEmpty(country),
    notes: longText(),
    currency,
    account_manager_id: recordId.nullable(),
    billing_terms: oneOf(...BILLING_TERMS),
    tags,
  },
  required: ["name"],
  defaults: {
    status: "active",
    company: "",
    contact_name: "",
    email: "",
    phone: "",
    website: "",
    country: "",
    notes: "",
    account_manager_id: null,
    billing_terms: "net30",
    tags: [],
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
  shown: {
    name: z.string(),
    status: z.enum(ADVERTISER_STATUSES),
    company: z.string(),
    contact_name: z.string(),
    email: z.string(),
    phone: z.string(),
    website: z.string(),
    country: z.string(),
    notes: z.string(),
    currency: shownCurrency,
    account_manager_id: z.int().nullable(),
    billing_terms: z.string(),
    tags: z.array(z.string()),
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
