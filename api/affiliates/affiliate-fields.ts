import { z } from "zod";
import { shownSchema } from "../access/visibility.ts";
import {
  country,
  currency,
  email,
  isStorable,
  longText,
  money,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownMoney,
  shownTime,
  tags,
  text,
} from "../rest/body-fields.ts";

export const AFFILIATE_STATUSES = ["active", "pending", "blocked", "rejected"] as const;
const PAYMENT_METHODS = ["wire", "crypto", "other", "wallet_a", "wallet_b"] as const;
/** G56. */
const PAYMENT_TERMS = [
  ...(["net7", "net15", "net30", "net45", "net60"] as const),
  ...(["weekly", "biweekly", "monthly", "on_request"] as const),
] as const;

const DETAILS_MAX = 50;

const paymentDetails = z
  .record(text(50).min(1), text(), "expected an object of texts")
  .refine(
    (details) => Object.keys(details).every(isStorable),
    "contains a character that is not allowed",
  )
  .refine(
    (details) => Object.keys(details).length <= DETAILS_MAX,
    `expected at most ${DETAILS_MAX} entries`,
  );

const fields = {
  code: z
    .string("expected a code")
    .regex(/^[A-Za-z0-9]{6,10}$/, "expected 6 to 10 letters or digits"),
  name: name(),
  status: oneOf(...AFFILIATE_STATUSES),
  company: text(),
  contact_name: text(),
  email: orEmpty(email),
  phone: text(),
  website: text(),
  messenger: text(),
  traffic_sources: text(),
  notes: longText(),
  country: orEmpty(country),
  tier: text(),
  manager_id: recordId.nullable(),
  payment_method: oneOf(...PAYMENT_METHODS),
  payment_details: paymentDetails,
  payment_terms: oneOf(...PAYMENT_TERMS),
  min_payout: money,
  currency,
  tags,
};

export const PatchAffiliateBody = z.strictObject(fields).partial();
export type PatchAffiliateBody = z.infer<typeof PatchAffiliateBody>;
export const CreateAffiliateBody = PatchAffiliateBody.extend({ name: fields.name });
export type CreateAffiliateBody = z.infer<typeof CreateAffiliateBody>;

export const ShownAffiliate = shownSchema("affiliate", {
  id: z.int(),
  code: z.string(),
  name: z.string(),
  status: z.enum(AFFILIATE_STATUSES),
  company: z.string(),
  contact_name: z.string(),
  email: z.string(),
  phone: z.string(),
  website: z.string(),
  messenger: z.string(),
  traffic_sources: z.string(),
  notes: z.string(),
  country: z.string(),
  tier: z.string(),
  manager_id: z.int().nullable(),
  payment_method: z.enum(PAYMENT_METHODS),
  payment_details: z.record(z.string(), z.string()),
  payment_terms: z.string(),
  min_payout: shownMoney,
  currency: z.string(),
  tags: z.array(z.string()),
  approved_at: shownTime.nullable(),
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "Affiliate" });
