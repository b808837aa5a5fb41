import { z } from "zod";
import {
  CONVERSION_METHODS,
  CONVERSION_STATUSES,
} from "../../../schemas/events/conversion-words.ts";
import { shownSchema } from "../../access/visibility.ts";
import {
  currency,
  flag,
  longText,
  money,
  oneOf,
  shownCurrency,
  shownMoney,
  shownTime,
  text,
} from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { recordReference } from "../../fields/catalog-fields.ts";

const REASON_MAX = 200;
const BULK_IDS_MAX = 500;
const TXID_MAX = 128;
const SUB_MAX = 500;

const clickId = z
  .string("expected a click id")
  .regex(/^[0-9a-fA-F]{32}$/, "expected 32 hex characters")
  .transform((id) => id.toLowerCase());

const guid = z
  .string("expected a UUID")
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "expected a UUID")
  .transform((id) => id.toLowerCase())
  .meta({ format: "uuid", examples: ["0b54c2f0-6e5a-4a39-9f0c-0d2f0d6f7f11"] });

const sub = text(SUB_MAX);
const params = z
  .strictObject({ adv1: sub, adv2: sub, adv3: sub, adv4: sub, adv5: sub }, "expected an object")
  .partial();

/** Texts that many systems keep as numbers. */
export const DIGIT_FIELDS = [
  ...["adv_txid", "source_id"],
  ...["sub1", "sub2", "sub3", "sub4", "sub5"],
  ...["adv1", "adv2", "adv3", "adv4", "adv5"],
];

export const CreateConversionBody = z.strictObject({
  offer_id: recordReference,
  affiliate_id: recordReference,
  event: text(64).min(1, "expected an event code").optional(),
  click_id: clickId.optional(),
  sale_amount: money.optional(),
  payout: money.optional(),
  revenue: money.optional(),
  currency: currency.optional(),
  adv_txid: z
    .string("expected text")
    .max(TXID_MAX, `expected at most ${TXID_MAX} characters`)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u, "expected printable characters")
    // Not every tool that reads the document knows classes of Unicode.
    .meta({ pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" })
    .optional(),
  status: oneOf(...CONVERSION_STATUSES).optional(),
  conv_ts: z.iso
    .datetime({ offset: true, error: "expected a time such as 2025-01-31T10:00:00Z" })
    .optional(),
  notes: longText().optional(),
  params: params.optional(),
  sub1: sub.optional(),
  sub2: sub.optional(),
  sub3: sub.optional(),
  sub4: sub.optional(),
  sub5: sub.optional(),
  source_id: sub.optional(),
});
export type CreateConversionBody = z.infer<typeof CreateConversionBody>;

const reason = text(REASON_MAX).optional();

const status = oneOf(...CONVERSION_STATUSES);

export const PatchConversionBody = z
  .strictObject({
    status: status.optional(),
    sale_amount: money.optional(),
    revenue: money.optional(),
    payout: money.optional(),
    reason,
    notes: longText().optional(),
  })
  .superRefine((body, context) => {
    if (body.status !== undefined || Object.keys(amountsOf(body)).length > 0) return;
    context.addIssue({ code: "custom", path: ["status"], message: "required" });
  });
type PatchConversionBody = z.infer<typeof PatchConversionBody>;

/** The amounts that a change gives. */
export function amountsOf({
  sale_amount,
  revenue,
  payout,
}: Pick<PatchConversionBody, "sale_amount" | "revenue" | "payout">): Partial<
  Record<"sale_amount" | "revenue" | "payout", string>
> {
  return {
    ...(sale_amount === undefined ? {} : { sale_amount }),
    ...(revenue === undefined ? {} : { revenue }),
    ...(payout === undefined ? {} : { payout }),
  };
}

export const PatchConversionsBody = z.strictObject({
  ids: listOf(guid, {
    expected: "expected a list of UUIDs",
    max: BULK_IDS_MAX,
    tooMany: `expected at most ${BULK_IDS_MAX} ids`,
  }).min(1, "expected at least one id"),
  status,
  reason,
});

const textField = z.string();

export const ShownConversion = shownSchema("conversion", {
  id: z.guid(),
  click_id: textField,
  offer_id: z.int(),
  offer_name: textField,
  affiliate_id: z.int().nullable(),
  affiliate_code: textField,
  affiliate_name: textField,
  advertiser_id: z.int(),
  smart_link_id: z.int().nullable(),
  event_id: z.int(),
  event_code: textField,
  status: z.enum(CONVERSION_STATUSES),
  status_reason: textField,
  is_duplicate: flag,
  revenue: shownMoney,
  payout: shownMoney,
  sale_amount: shownMoney,
  currency: shownCurrency,
  adv_txid: textField,
  method: z.enum(CONVERSION_METHODS),
  click_ts: shownTime.nullable(),
  conv_ts: shownTime,
  domain: textField,
  link_type: textField,
  sub1: textField,
  sub2: textField,
  sub3: textField,
  sub4: textField,
  sub5: textField,
  source_id: textField,
  traffic_source: textField,
  gclid: textField,
  gbraid: textField,
  wbraid: textField,
  fbclid: textField,
  ext_campaign_id: textField,
  ext_adgroup_id: textField,
  ext_ad_id: textField,
  ext_keyword: textField,
  ext_placement: textField,
  country: textField,
  region: textField,
  city: textField,
  device_type: textField,
  os: textField,
  browser: textField,
  conv_ip: textField,
  params: z.record(z.string(), z.string()),
  notes: textField,
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "Conversion" });
