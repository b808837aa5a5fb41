import { z } from "zod";
import { PAYMENT_TERMS } from "../../schemas/billing/periods.ts";
import { currency, longText, name, oneOf, recordId, shownCurrency, tags } from "./body-fields.ts";
import { CONTACT, COUNTRY } from "./contact.ts";
import { field, textField } from "./field.ts";
import { PAID_AT } from "./terms.ts";

export const ADVERTISER_STATUSES = ["active", "paused", "inactive"] as const;
/** G56. */
const BILLING_TERMS = [...PAYMENT_TERMS, "prepaid"] as const;

/** The fields of an advertiser that a body may have. A column in a migration and a line here make a new field. */
export const ADVERTISER = {
  name: field(name(), {
    shown: z.string(),
    required: true,
    form: { part: "name", label: "Name" },
  }),
  status: field(oneOf(...ADVERTISER_STATUSES), {
    shown: z.enum(ADVERTISER_STATUSES),
    unset: "active",
    form: {
      part: "status",
      label: "Status",
      choices: { active: "Active", paused: "Paused", inactive: "Inactive" },
    },
  }),
  ...CONTACT,
  country: COUNTRY,
  notes: textField(longText(), { form: { part: "texts", label: "Internal notes", kind: "area" } }),
  currency: field(currency, { shown: shownCurrency }),
  account_manager_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
  billing_terms: field(oneOf(...BILLING_TERMS), {
    shown: z.string(),
    unset: "net30",
    form: { part: "billing", label: "Pays", choices: { ...PAID_AT, prepaid: "In advance" } },
  }),
  tags: field(tags, {
    shown: z.array(z.string()),
    unset: [],
    form: { part: "work", label: "Tags", kind: "list", hint: "Separate with commas" },
  }),
};
