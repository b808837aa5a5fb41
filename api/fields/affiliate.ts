import { z } from "zod";
import { PAYMENT_TERMS } from "../../schemas/billing/periods.ts";
import {
  currency,
  isStorable,
  longText,
  money,
  name,
  oneOf,
  recordId,
  shownCurrency,
  shownMoney,
  tags,
  text,
} from "./body-fields.ts";
import { CONTACT, COUNTRY } from "./contact.ts";
import { field, textField } from "./field.ts";
import { NO_MONEY, PAID_AT } from "./terms.ts";

export const AFFILIATE_STATUSES = ["active", "pending", "blocked", "rejected"] as const;
const PAYMENT_METHODS = ["wire", "crypto", "other", "wallet_a", "wallet_b"] as const;
const DETAILS_MAX = 50;
const DETAIL_NAME_MAX = 50;

/** The payment details of the contract (2.6): texts by free names. */
const paymentTexts = z
  .record(text(DETAIL_NAME_MAX).min(1), text(), "expected an object of texts")
  .refine(
    (details) => Object.keys(details).every(isStorable),
    "contains a character that is not allowed",
  )
  .refine(
    (details) => Object.keys(details).length <= DETAILS_MAX,
    `expected at most ${DETAILS_MAX} entries`,
  );

/** The fields of a partner that a body may have. G57 has the defaults. A column in a migration and a line here make a new field. */
export const AFFILIATE = {
  code: field(
    z.string("expected a code").regex(/^[A-Za-z0-9]{6,10}$/, "expected 6 to 10 letters or digits"),
    {
      shown: z.string(),
      form: {
        part: "code",
        label: "Code",
        hint: "Used in links: 6 to 10 letters or digits. Leave empty to generate one",
      },
    },
  ),
  name: field(name(), {
    shown: z.string(),
    required: true,
    form: { part: "name", label: "Name" },
  }),
  status: field(oneOf(...AFFILIATE_STATUSES), {
    shown: z.enum(AFFILIATE_STATUSES),
    unset: "active",
    form: {
      part: "status",
      label: "Status",
      choices: { active: "Active", pending: "Pending", blocked: "Blocked", rejected: "Rejected" },
    },
  }),
  ...CONTACT,
  messenger: textField(text(), { form: { part: "contact", label: "Messenger" } }),
  traffic_sources: textField(text(), {
    form: { part: "texts", label: "Traffic sources", kind: "area" },
  }),
  notes: textField(longText(), { form: { part: "texts", label: "Internal notes", kind: "area" } }),
  country: COUNTRY,
  tier: textField(text(), { form: { part: "work", label: "Tier" } }),
  manager_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
  payment_method: field(oneOf(...PAYMENT_METHODS), {
    shown: z.enum(PAYMENT_METHODS),
    unset: "other",
  }),
  payment_details: field(paymentTexts, {
    shown: z.record(z.string(), z.string()),
    unset: {},
    hiddenFrom: ["analyst"],
  }),
  payment_terms: field(oneOf(...PAYMENT_TERMS), {
    shown: z.string(),
    unset: "net30",
    form: { part: "terms", label: "Paid", choices: PAID_AT },
  }),
  min_payout: field(money, {
    shown: shownMoney,
    unset: NO_MONEY,
    form: { part: "terms", label: "Minimum payout", hint: "Such as 50.00" },
  }),
  currency: field(currency, { shown: shownCurrency }),
  tags: field(tags, {
    shown: z.array(z.string()),
    unset: [],
    form: { part: "work", label: "Tags", kind: "list", hint: "Separate with commas" },
  }),
};
