import { z } from "zod";
import { parseDay } from "../../../schemas/time/calendar.ts";
import { DAY_MS, INSTANT_MS_MAX, INSTANT_MS_MIN } from "../../../schemas/time/zone.ts";
import { shownSchema } from "../../access/visibility.ts";
import {
  count,
  flag,
  oneOf,
  orEmpty,
  shownDay,
  shownTime,
  text,
} from "../../fields/body-fields.ts";

const NAME_MAX = 200;
const ADDRESS_MAX = 500;
const ID_MAX = 40;
const TAX_TEXT_MAX = 500;
const GRACE_HOURS_MAX = 168;
const HOLD_HOURS_MAX = 720;
const APPROVALS = ["single", "four_eyes"] as const;

const day = z
  .string("expected a date")
  .refine((value) => {
    const parsed = parseDay(value);
    const atMs = (parsed ?? -1) * DAY_MS;
    return atMs >= INSTANT_MS_MIN && atMs <= INSTANT_MS_MAX;
  }, "expected a date such as 2026-01-31, from 1970 to 2099")
  .meta({ format: "date", examples: ["2026-01-01"] });

/** What stands before a number; `{year}` is the year of the document. */
const prefix = z
  .string("expected text")
  .regex(
    /^(?:[A-Za-z0-9._/-]|\{year\}){0,30}$/,
    "expected at most 30 letters, digits, . _ / - and {year}",
  );

const legal = z.strictObject(
  {
    name: text(NAME_MAX).default(""),
    address: text(ADDRESS_MAX).default(""),
    vat_id: text(ID_MAX).default(""),
    iban: orEmpty(
      z.string().regex(/^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/, "expected an IBAN without spaces"),
    ).default(""),
    bic: orEmpty(
      z
        .string()
        .regex(/^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/, "expected a BIC of 8 or 11 characters"),
    ).default(""),
  },
  "expected an object",
);

const walletNames = z.strictObject(
  { wallet_a: text(NAME_MAX).default(""), wallet_b: text(NAME_MAX).default("") },
  "expected an object",
);

export const PatchBillingSettings = z.strictObject({
  enabled: flag.optional(),
  starts_on: day.optional(),
  legal: legal.optional(),
  approval: oneOf(...APPROVALS).optional(),
  auto_approve: flag.optional(),
  statement_prefix: prefix.optional(),
  invoice_prefix: prefix.optional(),
  period_grace_hours: count({ min: 0, max: GRACE_HOURS_MAX }).optional(),
  payment_change_hold_hours: count({ min: 0, max: HOLD_HOURS_MAX }).optional(),
  wallet_names: walletNames.optional(),
  default_tax_text: text(TAX_TEXT_MAX).optional(),
  language: z
    .string("expected a language")
    .regex(/^[a-z]{2}$/, "expected a language such as en")
    .optional(),
  payout_currency: oneOf("offer").optional(),
});
export type PatchBillingSettings = z.infer<typeof PatchBillingSettings>;

export const ShownBillingSettings = shownSchema("billing_settings", {
  enabled: z.boolean(),
  starts_on: shownDay.nullable(),
  has_entries: z.boolean(),
  legal: z.strictObject({
    name: z.string(),
    address: z.string(),
    vat_id: z.string(),
    iban: z.string(),
    bic: z.string(),
  }),
  approval: z.enum(APPROVALS),
  auto_approve: z.boolean(),
  statement_prefix: z.string(),
  invoice_prefix: z.string(),
  period_grace_hours: z.int(),
  payment_change_hold_hours: z.int(),
  wallet_names: z.strictObject({ wallet_a: z.string(), wallet_b: z.string() }),
  default_tax_text: z.string(),
  language: z.string(),
  payout_currency: z.enum(["offer"]),
  audited_at: shownTime.nullable(),
  violations: z.int(),
  updated_at: shownTime.nullable(),
}).meta({ id: "BillingSettings" });
