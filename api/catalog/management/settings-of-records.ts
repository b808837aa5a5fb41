import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { count, longText, oneOf, recordId, words } from "../../fields/body-fields.ts";
import { addressRanges, caps, days, fraudChecks } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { OFFER } from "../../fields/offer.ts";
import type { FieldFaults } from "../../operation/operation.ts";
import { questions, shownQuestions } from "../access-requests/access-questions.ts";
import { advertisers } from "../advertisers/advertisers.ts";
import { affiliates } from "../affiliates/affiliates.ts";
import { getOffer } from "../offers/get-offer.ts";
import { resetAcceptances } from "../offers/offer-terms.ts";
import { manageSettings } from "./manage-settings.ts";

const SECONDS_MAX = 31_536_000;
const HOURS_MAX = 8_760;
const PERCENT_MAX = 100;
const DAY_HOURS = 24;
const DAY_SECONDS = 86_400;
const REAPPLY_DAYS_MAX = 3_650;
const TIER_MAX = 500;

const passParameters = OFFER.pass_parameters.body;

/** An empty text counts as no terms, because there is nothing to accept. */
const terms = longText()
  .transform((text) => (text === "" ? null : text))
  .nullable();

/** How an offer holds, checks and routes (G98, G101, G103, G145, G146, G189), and how partners ask for access (N31). */
export const offerSettings = manageSettings({
  resource: "offer_settings",
  name: "OfferSettings",
  of: getOffer,
  table: "offer",
  fields: {
    hold_days: field(days, { shown: z.number() }),
    min_seconds_to_conversion: field(count({ min: 0, max: SECONDS_MAX }), { shown: z.int() }),
    duplicate_click_seconds: field(count({ min: 0, max: SECONDS_MAX }), { shown: z.int() }),
    unique_click_hours: field(count({ min: 1, max: HOURS_MAX }), { shown: z.int() }),
    fraud_checks: field(fraudChecks.nullable(), { shown: z.looseObject({}).nullable() }),
    terms: field(terms, { shown: z.string().nullable() }),
    fail_route_offer_id: field(recordId.nullable(), { shown: z.int().nullable() }),
    txid_scope: field(oneOf("offer", "event"), { shown: z.enum(["offer", "event"]) }),
    pass_parameters: field(passParameters, { shown: passParameters }),
    access_questions: field(questions, { shown: shownQuestions }),
    auto_approve_tiers: field(words(TIER_MAX), { shown: z.array(z.string()) }),
    reapply_days: field(count({ min: 0, max: REAPPLY_DAYS_MAX }), { shown: z.int() }),
  },
  present: withDaysAsNumber,
  read: staff("offers.read"),
  write: adminWrite("offers.write"),
  references: { fail_route_offer_id: "offer" },
  bodyOnly: { keep_acceptance: z.boolean("expected true or false") },
  afterUpdate: async (tx, { id, before, after, body }) => {
    if (before["terms"] !== after["terms"] && body["keep_acceptance"] !== true)
      await resetAcceptances(tx, id);
  },
  check: ({ settings }, body) => windowFaults(settings.clickRetentionDays, body),
});

/** Settings that hold back a partner's conversions (G98, G99). */
export const affiliateSettings = manageSettings({
  resource: "affiliate_settings",
  name: "AffiliateSettings",
  of: affiliates.get,
  table: "affiliate",
  fields: {
    throttle_percent: field(count({ min: 0, max: PERCENT_MAX }), { shown: z.int() }),
    hold_days: field(days.nullable(), { shown: z.number().nullable() }),
  },
  present: withDaysAsNumber,
  read: staff("affiliates.read"),
  write: adminWrite("affiliates.write"),
});

/** From which addresses an advertiser reports, and its budget (G105, G184). */
export const advertiserSettings = manageSettings({
  resource: "advertiser_settings",
  name: "AdvertiserSettings",
  of: advertisers.get,
  table: "advertiser",
  fields: {
    postback_ip_allowlist: field(addressRanges, { shown: z.array(z.string()) }),
    budget_caps: field(caps, { shown: z.looseObject({}) }),
  },
  read: staff("advertisers.read"),
  write: adminWrite("advertisers.write"),
});

/** A visitor is recognised only while clicks keep the visitor's data. A longer window would pay for one visitor twice. */
function windowFaults(retentionDays: number, body: Readonly<Record<string, unknown>>): FieldFaults {
  const { unique_click_hours: hours, duplicate_click_seconds: seconds } = body;
  if (retentionDays === 0) return {};
  const reason = `because clicks keep their visitor's data for ${retentionDays} days (CLICK_RETENTION_DAYS of the installation)`;
  const [hoursMax, secondsMax] = [retentionDays * DAY_HOURS, retentionDays * DAY_SECONDS];
  return {
    ...(typeof hours === "number" && hours > hoursMax
      ? { unique_click_hours: `at most ${hoursMax}, ${reason}` }
      : {}),
    ...(typeof seconds === "number" && seconds > secondsMax
      ? { duplicate_click_seconds: `at most ${secondsMax}, ${reason}` }
      : {}),
  };
}

/** Days are not money: Postgres returns them as exact text, the contract has a number. */
function withDaysAsNumber(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { hold_days: holdDays } = row;
  return { ...row, hold_days: holdDays === null ? null : Number(holdDays) };
}
