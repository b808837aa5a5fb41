import { domainToASCII } from "node:url";
import { z } from "zod";
import { CODE_FORM, isCode } from "../../schemas/catalog/code-form.ts";
import type { CapPeriod } from "../../schemas/catalog/records.ts";
import { canonicalHost } from "../../schemas/catalog/tracking-host.ts";
import { SUB_IDS } from "../../schemas/events/sub-ids.ts";
import { isAddressOrCidr } from "../../schemas/net/ip-ranges.ts";
import { INSTANT_MS_MAX, INSTANT_MS_MIN, zoneOf } from "../../schemas/time/zone.ts";
import { parseReference, type Reference } from "../operation/codes.ts";
import { count, country, flag, money, oneOf, recordId, text, words } from "./body-fields.ts";
import { listOf } from "./bounded-list.ts";

/*
 * Body fields that several catalog records share: codes, caps, targeting, conditions. They accept exactly what ingress and the
 * conversion processors read (schemas/catalog/records.ts).
 */

const COUNT_MAX = 1_000_000_000;
const NAME_LENGTH_MAX = 100;
const IDS_MAX = 1_000;
const COUNTRIES_MAX = 1_000;
/** Two addresses of IPv6 with a dash. */
const RANGE_CHARACTERS_MAX = 100;
const DEVICES_MAX = 100;
const DAYS_MAX = 3_650;
const HOST =
  /^(?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?::[1-9]\d{0,4})?$/;
const PORT_MAX = 65_535;

/** Slug of a workspace: a label of a host name. */
export const WORKSPACE_SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** An IANA time zone. */
export const timezone = z
  .string("expected a time zone")
  .refine((zone) => zoneOf(zone) !== undefined, "expected an IANA time zone");

/** Codes that are given by hand or come from an earlier system, whose links then keep working. */
export const givenCode = z
  .string("expected a code")
  .regex(CODE_FORM, { error: "expected 1 to 64 letters, digits, - _ . or ~", abort: true })
  .refine(isCode, "browsers remove . and .. from a path, so no link could have this code");
/** Event codes (G42). Case matters. */
export const eventCode = z
  .string("expected a code")
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, "expected 1 to 64 letters, digits, _ . or -");

/** A limit for some periods; other keys are unknown fields. */
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
export const caps = z.strictObject(
  {
    conversions: counts,
    clicks: counts,
    payout: amounts,
    revenue: amounts,
    alert_only: flag.optional(),
  },
  "expected an object",
);

export const countries = listOf(
  z
    .string("expected a country code")
    .refine((code) => code.length === 2 && country.safeParse(code.toUpperCase()).success, {
      message: "expected an ISO 3166 alpha-2 code such as DE",
    }),
  {
    expected: "expected a list of country codes",
    max: COUNTRIES_MAX,
    tooMany: `expected at most ${COUNTRIES_MAX} country codes`,
  },
);
const DEVICES = ["desktop", "mobile", "tablet", "other"];
const devices = listOf(
  z
    .string("expected a device")
    .refine(
      (device) => DEVICES.includes(device.slice(0, 10).toLowerCase()),
      `expected one of ${DEVICES.join(", ")}`,
    ),
  {
    expected: "expected a list of devices",
    max: DEVICES_MAX,
    tooMany: `expected at most ${DEVICES_MAX} devices`,
  },
);
const names = words(NAME_LENGTH_MAX);
const scheduleTime = z.iso
  .datetime({ offset: true, error: "expected a time such as 2025-01-31T10:00:00Z" })
  .nullable()
  .optional();

/** Shape of targeting (G41). */
export const targeting = z.strictObject(
  {
    countries_allow: countries.optional(),
    countries_deny: countries.optional(),
    regions_allow: names.optional(),
    cities_allow: names.optional(),
    devices_allow: devices.optional(),
    devices_deny: devices.optional(),
    os_allow: names.optional(),
    os_deny: names.optional(),
    browsers_allow: names.optional(),
    browsers_deny: names.optional(),
    languages_allow: names.optional(),
    connection: oneOf("any", "no_proxy").optional(),
    schedule: z
      .strictObject(
        {
          tz: timezone.optional(),
          days: listOf(count({ min: 1, max: 7 }), {
            expected: "expected a list of days",
            max: 7,
            tooMany: "expected at most 7 days",
          }).optional(),
          hours: listOf(count({ min: 0, max: 23 }), {
            expected: "expected a list of hours",
            max: 24,
            tooMany: "expected at most 24 hours",
          }).optional(),
          starts_at: scheduleTime,
          ends_at: scheduleTime,
        },
        "expected an object",
      )
      .optional(),
  },
  "expected an object",
);

/** Distinct ids of records of one kind. */
export const recordIds = listOf(recordId, {
  expected: "expected a list of ids",
  max: IDS_MAX,
  tooMany: `expected at most ${IDS_MAX} ids`,
}).transform((ids) => [...new Set(ids)]);

/** A reference in a body: a number is an id, text an id or a code (G25, G89). */
export const recordReference: z.ZodType<Reference, string | number> = z
  .union([z.int().positive(), z.string()], "expected an id or a code")
  .transform((value, context) => {
    const parsed = parseReference(String(value));
    if (parsed === undefined) {
      context.addIssue("expected an id or a code");
      return z.NEVER;
    }
    return parsed;
  });

/** Host of a tracking domain, with a port unless it is the default one. The output is spelled as in a Host header. */
export const trackingHost = z
  .string("expected a host name")
  .max(300, "expected a host name such as go.example.com")
  .transform(hostAsSent)
  .refine((host) => HOST.test(host), "expected a host name such as go.example.com");

/** A tracking host that is looked for, spelled as it is stored. */
export function storedHost(asked: string): string {
  return /^\p{ASCII}*$/u.test(asked) ? canonicalHost(asked) : hostAsSent(asked);
}

/** Spelled as browsers send it: other scripts in punycode. "" if it is not a host. */
function hostAsSent(written: string): string {
  const [name = "", port, ...rest] = canonicalHost(written).split(":");
  if (rest.length > 0 || Number(port ?? 0) > PORT_MAX) return "";
  return [domainToASCII(name), ...(port === undefined ? [] : [port])].join(":");
}

/** A list of addresses and CIDR ranges (G07, G184). */
export const addressRanges = listOf(
  z
    .string("expected an address")
    .refine(
      (range) => range.length <= RANGE_CHARACTERS_MAX && isAddressOrCidr(range),
      "expected an IP address or a CIDR range",
    ),
  {
    expected: "expected a list of addresses",
    max: IDS_MAX,
    tooMany: `expected at most ${IDS_MAX} addresses`,
  },
);

/** Allowed values of sub IDs, by name: {sub1: ["a", "b"]}. */
export const subConditions = z.partialRecord(
  z.enum(SUB_IDS, `expected one of ${SUB_IDS.join(", ")}`),
  words(255),
  "expected an object of lists",
);

/** Texts for sub IDs, by name: {sub1: "{keyword}"}. */
export const subTexts = z.partialRecord(
  z.enum(SUB_IDS, `expected one of ${SUB_IDS.join(", ")}`),
  text(255),
  "expected an object of texts",
);

const perDay = count({ min: 1, max: 1_000_000 }).nullable();

/** Fraud checks (G101). A count of `null` is off. */
export const fraudChecks = z
  .strictObject(
    {
      bot: flag,
      datacenter: flag,
      proxy_hint: flag,
      headless: flag,
      missing_ua: flag,
      duplicate_click_ip: perDay,
      duplicate_conv_ip: perDay,
      duplicate_conv_subnet24: perDay,
    },
    "expected an object",
  )
  .partial();

/** Days with up to six decimals; 0.5 is half a day (G98). */
export const days = z
  .number("expected a number of days")
  .min(0, "expected a number of days from 0")
  .max(DAYS_MAX, `expected at most ${DAYS_MAX} days`)
  .transform((value) => Math.round(value * 1_000_000) / 1_000_000);

/** A time in a body, converted to UTC milliseconds as answers show it. Postgres refuses some years of ISO 8601. */
export const time = z.iso
  .datetime({ offset: true, error: "expected a time such as 2025-01-31T10:00:00Z", abort: true })
  .refine(
    (value) => Date.parse(value) >= INSTANT_MS_MIN && Date.parse(value) <= INSTANT_MS_MAX,
    "expected a time from 1970 to 2099",
  )
  .transform((value) => new Date(value).toISOString());
