import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import {
  calledUrl,
  currency,
  flag,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownCurrency,
  shownTime,
  targetUrl,
  text,
  words,
} from "../../fields/body-fields.ts";
import { fraudChecks, timezone, WORKSPACE_SLUG } from "../../fields/catalog-fields.ts";

const STATUSES = ["active", "inactive"] as const;
const MODELS = ["last", "first"] as const;
const IP_STORAGES = ["full", "truncated"] as const;
const SIGN_UPS = ["closed", "review"] as const;
const HOST_MAX = 253;

export const PatchWorkspaceBody = z
  .strictObject({
    slug: z
      .string("expected a slug")
      .regex(WORKSPACE_SLUG, "expected 1 to 63 lower-case letters, digits and hyphens"),
    name: name(),
    brand_name: text(200),
    timezone,
    currency,
    status: oneOf(...STATUSES),
    default_fallback_url: orEmpty(targetUrl),
    allowed_destinations: words(HOST_MAX),
    attribution_model: oneOf(...MODELS),
    advertiser_updates: flag,
    organic_affiliate_id: recordId.nullable(),
    email_attribution: flag,
    ip_storage: oneOf(...IP_STORAGES),
    fraud_checks: fraudChecks,
    forward_unknown_url: orEmpty(calledUrl),
    advertiser_may_rotate: flag,
    sign_up: oneOf(...SIGN_UPS),
  })
  .partial();

const shownColumns = {
  id: z.int(),
  slug: z.string(),
  name: z.string(),
  brand_name: z.string(),
  timezone: z.string(),
  currency: shownCurrency,
  status: z.enum(STATUSES),
  default_fallback_url: z.string(),
  allowed_destinations: z.array(z.string()),
  attribution_model: z.enum(MODELS),
  advertiser_updates: z.boolean(),
  organic_affiliate_id: z.int().nullable(),
  email_attribution: z.boolean(),
  ip_storage: z.enum(IP_STORAGES),
  fraud_checks: z.looseObject({}),
  forward_unknown_url: z.string(),
  advertiser_may_rotate: z.boolean(),
  sign_up: z.enum(SIGN_UPS),
  postback_token: z.string(),
  created_at: shownTime,
  updated_at: shownTime,
};
/** A workspace as stored. */
export type WorkspaceRow = Readonly<z.output<z.ZodObject<typeof shownColumns>>>;
export const ShownWorkspace = shownSchema("workspace", shownColumns).meta({ id: "Workspace" });
