import { z } from "zod";
import { shownSchema } from "../access/visibility.ts";
import {
  country,
  currency,
  email,
  longText,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownTime,
  tags,
  text,
} from "../rest/body-fields.ts";

export const ADVERTISER_STATUSES = ["active", "paused", "inactive"] as const;
/** Payment terms of partners, and prepaid (G56). */
const BILLING_TERMS = [
  ...(["net7", "net15", "net30", "net45", "net60"] as const),
  ...(["weekly", "biweekly", "monthly", "on_request", "prepaid"] as const),
] as const;

const fields = {
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
};

export const PatchAdvertiserBody = z.strictObject(fields).partial();
export type PatchAdvertiserBody = z.infer<typeof PatchAdvertiserBody>;
export const CreateAdvertiserBody = PatchAdvertiserBody.extend({ name: fields.name });

export const ShownAdvertiser = shownSchema("advertiser", {
  id: z.int(),
  name: z.string(),
  status: z.enum(ADVERTISER_STATUSES),
  company: z.string(),
  contact_name: z.string(),
  email: z.string(),
  phone: z.string(),
  website: z.string(),
  country: z.string(),
  notes: z.string(),
  currency: z.string(),
  account_manager_id: z.int().nullable(),
  billing_terms: z.string(),
  tags: z.array(z.string()),
  postback_token: z.string(),
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "Advertiser" });
