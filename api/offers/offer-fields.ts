import { z } from "zod";
import type { CapPeriod } from "../../schemas/catalog/records.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import { shownSchema } from "../access/visibility.ts";
import {
  count,
  country,
  currency,
  flag,
  longText,
  money,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownMoney,
  shownTime,
  tags,
  targetUrl,
  text,
  words,
} from "../rest/body-fields.ts";

const COUNT_MAX = 1_000_000_000;
const DAYS_MAX = 3_650;
const EVENTS_MAX = 100;
const PLACE_MAX = 100;

export const OFFER_STATUSES = ["active", "paused"] as const;
export const OFFER_VISIBILITIES = ["public", "approval", "private"] as const;
export const ACCESS_STATUSES = ["approved", "pending", "rejected"] as const;

/** Offer codes (G24). */
const offerCode = z
  .string("expected a code")
  .regex(/^[A-Za-z0-9_-]{2,32}$/, "expected 2 to 32 letters, digits, _ or -");
/** Event codes (G42): case counts. */
const eventCode = z
  .string("expected a code")
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, "expected 1 to 64 letters, digits, _ . or -");

/** A limit for some periods; another key is unknown. */
function periods<Limit extends z.ZodType>(limit: Limit) {
  return z.strictObject(
    {
      hourly: limit.optional(),
      daily: limit.optional(),
      weekly: limit.optional(),
      monthly: limit.optional(),
      total: limit.optional(),
    } satisfies Record<CapPeriod, z.ZodType>,
    "expected an object",
  );
}

const counts = periods(count({ min: 0, max: COUNT_MAX })).optional();
const amounts = periods(money).optional();

/** Shape of caps (G39). */
const caps = z.strictObject(
  {
    conversions: counts,
    clicks: counts,
    payout: amounts,
    revenue: amounts,
    alert_only: flag.optional(),
  },
  "expected an object",
);

const countries = z.array(
  z
    .string("expected a country code")
    .refine((code) => country.safeParse(code.toUpperCase()).success, {
      message: "expected an ISO 3166 alpha-2 code such as DE",
    }),
  "expected a list of country codes",
);
const DEVICES = ["desktop", "mobile", "tablet", "other"];
const devices = z.array(
  z
    .string("expected a device")
    .refine(
      (device) => DEVICES.includes(device.toLowerCase()),
      `expected one of ${DEVICES.join(", ")}`,
    ),
  "expected a list of devices",
);
const places = words(PLACE_MAX);
const scheduleTime = z.iso
  .datetime({ offset: true, error: "expected a time such as 2025-01-31T10:00:00Z" })
  .nullable()
  .optional();

/** Shape of targeting (G41). */
const targeting = z.strictObject(
  {
    countries_allow: countries.optional(),
    countries_deny: countries.optional(),
    regions_allow: places.optional(),
    cities_allow: places.optional(),
    devices_allow: devices.optional(),
    devices_deny: devices.optional(),
    os_allow: places.optional(),
    os_deny: places.optional(),
    browsers_allow: places.optional(),
    browsers_deny: places.optional(),
    languages_allow: places.optional(),
    connection: oneOf("any", "no_proxy").optional(),
    schedule: z
      .strictObject(
        {
          tz: z
            .string("expected a time zone")
            .refine((zone) => zoneOf(zone) !== undefined, "expected an IANA time zone")
            .optional(),
          days: z
            .array(count({ min: 1, max: 7 }), "expected a list of days")
            .max(7)
            .optional(),
          hours: z
            .array(count({ min: 0, max: 23 }), "expected a list of hours")
            .max(24)
            .optional(),
          starts_at: scheduleTime,
          ends_at: scheduleTime,
        },
        "expected an object",
      )
      .optional(),
  },
  "expected an object",
);

/** An event of a body: types by action and by sale only; by click is a matter of the offer (G43). */
const eventFields = {
  code: eventCode,
  name: name(),
  revenue_type: oneOf("rpa", "rps"),
  revenue: money,
  payout_type: oneOf("cpa", "cps"),
  payout: money,
  is_private: flag,
  allow_multiple: flag,
};

export const EventBody = z.strictObject(eventFields).partial().extend({ code: eventCode });

/** What PATCH takes; POST takes code and events besides (OFF-027, OFF-028). */
const offerFields = {
  name: name(),
  advertiser_id: recordId,
  status: oneOf(...OFFER_STATUSES),
  visibility: oneOf(...OFFER_VISIBILITIES),
  category: text(),
  description: longText(),
  restrictions: longText(),
  preview_url: orEmpty(targetUrl),
  destination_url: targetUrl,
  fallback_url: orEmpty(targetUrl),
  allowed_domains: words(253),
  currency,
  revenue_type: oneOf("rpa", "rps", "rpc"),
  revenue: money,
  payout_type: oneOf("cpa", "cps", "cpc"),
  payout: money,
  caps,
  targeting,
  conversion_method: oneOf("any", "pixel", "s2s"),
  unique_per_click: flag,
  attribution_days: count({ min: 1, max: DAYS_MAX }),
  default_status: oneOf("approved", "pending"),
  thumbnail_url: orEmpty(targetUrl),
  tags,
  is_featured: flag,
};

export const PatchOfferBody = z.strictObject(offerFields).partial();
export type PatchOfferBody = z.infer<typeof PatchOfferBody>;

export const CreateOfferBody = PatchOfferBody.extend({
  name: offerFields.name,
  advertiser_id: offerFields.advertiser_id,
  destination_url: offerFields.destination_url,
  code: offerCode.optional(),
  events: z
    .array(EventBody, "expected a list of events")
    .max(EVENTS_MAX, `expected at most ${EVENTS_MAX} events`)
    .optional(),
});
export type CreateOfferBody = z.infer<typeof CreateOfferBody>;
export type EventBody = z.infer<typeof EventBody>;

export const ShownEvent = shownSchema("event", {
  id: z.int(),
  code: z.string(),
  name: z.string(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue: shownMoney,
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: shownMoney,
  is_default: z.boolean(),
  is_private: z.boolean(),
  allow_multiple: z.boolean(),
}).meta({ id: "Event" });

export const ShownOffer = shownSchema("offer", {
  id: z.int(),
  code: z.string(),
  name: z.string(),
  status: z.enum(OFFER_STATUSES),
  visibility: z.enum(OFFER_VISIBILITIES),
  advertiser_id: z.int(),
  category: z.string(),
  description: z.string(),
  restrictions: z.string(),
  preview_url: z.string(),
  destination_url: z.string(),
  fallback_url: z.string(),
  allowed_domains: z.array(z.string()),
  currency: z.string(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue: shownMoney,
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: shownMoney,
  caps: z.looseObject({}),
  targeting: z.looseObject({}),
  conversion_method: z.enum(["any", "pixel", "s2s"]),
  unique_per_click: z.boolean(),
  attribution_days: z.int(),
  default_status: z.enum(["approved", "pending"]),
  thumbnail_url: z.string(),
  tags: z.array(z.string()),
  is_featured: z.boolean(),
  events: z.array(ShownEvent),
  created_at: shownTime,
  updated_at: shownTime,
  access_status: z.enum(ACCESS_STATUSES).nullable(),
  can_run: z.boolean(),
  tracking_link: z.string(),
}).meta({ id: "Offer" });

export const ShownPartnerAccess = z
  .strictObject({
    affiliate_id: z.int(),
    affiliate_code: z.string(),
    affiliate_name: z.string(),
    status: z.enum(ACCESS_STATUSES),
    note: z.string(),
    requested_at: shownTime.nullable(),
    decided_at: shownTime.nullable(),
  })
  .meta({ id: "PartnerAccess" });
