import { z } from "zod";
import {
  count,
  currency,
  flag,
  longText,
  money,
  name,
  oneOf,
  orEmpty,
  recordId,
  shownCurrency,
  shownMoney,
  tags,
  targetUrl,
  text,
  words,
} from "./body-fields.ts";
import { caps, targeting } from "./catalog-fields.ts";
import { field, textField } from "./field.ts";
import { inWords, NO_MONEY, PAID_FOR, PAYOUT_TYPES, REVENUE_TYPES } from "./terms.ts";

const DAYS_MAX = 3_650;
const HOST_MAX = 253;

export const OFFER_STATUSES = ["active", "paused"] as const;
export const OFFER_VISIBILITIES = ["public", "approval", "private"] as const;
const CONVERSION_METHODS = ["any", "pixel", "s2s"] as const;
const FIRST_STATUSES = ["approved", "pending"] as const;

/**
 * The fields of an offer that a body may have (OFF-005, G35). A column in a migration and a line here make a new one: bodies, answers,
 * who sees it, the OpenAPI document, imports, webhooks and the console follow.
 */
export const OFFER = {
  name: field(name(), {
    shown: z.string(),
    required: true,
    sample: "Sample offer",
    form: { part: "name", label: "Name" },
  }),
  status: field(oneOf(...OFFER_STATUSES), {
    shown: z.enum(OFFER_STATUSES),
    unset: "active",
    form: { part: "status", label: "Status", choices: { active: "Active", paused: "Paused" } },
  }),
  visibility: field(oneOf(...OFFER_VISIBILITIES), {
    shown: z.enum(OFFER_VISIBILITIES),
    unset: "public",
    form: {
      part: "access",
      label: "Visibility",
      choices: {
        public: "Public: every partner may run it",
        approval: "By approval: partners ask for it",
        private: "Private: for partners that you choose",
      },
    },
  }),
  advertiser_id: field(recordId, {
    shown: z.int(),
    required: true,
    hiddenFrom: ["partner"],
    sample: 1,
  }),
  category: textField(text(), { form: { part: "finding", label: "Category" } }),
  description: textField(longText(), {
    form: { part: "texts", label: "Description", kind: "area" },
  }),
  restrictions: textField(longText(), {
    note: "What partners may not do, as free text; shown, not enforced",
    form: { part: "texts", label: "Restrictions for partners", kind: "area" },
  }),
  preview_url: textField(orEmpty(targetUrl), {
    note: "Address at which partners see the landing page without a click",
    form: {
      part: "addresses",
      label: "Preview",
      kind: "address",
      hint: "A page that partners may look at",
    },
  }),
  destination_url: field(targetUrl, {
    shown: z.string(),
    required: true,
    hiddenFrom: ["partner"],
    note: "Where a click goes; macros such as `{click_id}` are replaced",
    sample: "https://shop.example/?cid={click_id}",
    form: {
      part: "destination",
      label: "Destination",
      kind: "address",
      hint: "Where visitors are sent; {click_id} and other macros are filled in",
    },
  }),
  fallback_url: textField(orEmpty(targetUrl), {
    hiddenFrom: ["partner"],
    note: "Where clicks go if the offer does not accept them (paused, wrong country, cap); macros are replaced. Default: the workspace's",
    form: {
      part: "addresses",
      label: "Fallback",
      kind: "address",
      hint: "For visitors that may not be sent to the destination",
    },
  }),
  allowed_domains: field(words(HOST_MAX), {
    shown: z.array(z.string()),
    unset: [],
    hiddenFrom: ["partner"],
    note: "Hosts that `url=` of a link may name in addition to the destination's; `example.com` includes its subdomains, `*.example.com` means only them",
    form: {
      part: "addresses",
      label: "Allowed domains",
      kind: "list",
      hint: "Other hosts that deep links may lead to",
    },
  }),
  currency: field(currency, { shown: shownCurrency, sample: "USD" }),
  revenue_type: field(oneOf(...REVENUE_TYPES), {
    shown: z.enum(REVENUE_TYPES),
    unset: "rpa",
    hiddenFrom: ["partner"],
    form: { part: "revenue", label: "Revenue", choices: inWords(REVENUE_TYPES, PAID_FOR) },
  }),
  revenue: field(money, {
    shown: shownMoney,
    unset: NO_MONEY,
    hiddenFrom: ["partner"],
    sample: "15.0000",
    form: { part: "revenue", label: "Revenue value", hint: "15.00, or 12 for 12 %" },
  }),
  payout_type: field(oneOf(...PAYOUT_TYPES), {
    shown: z.enum(PAYOUT_TYPES),
    unset: "cpa",
    hiddenFrom: ["advertiser"],
    form: { part: "payout", label: "Payout", choices: inWords(PAYOUT_TYPES, PAID_FOR) },
  }),
  payout: field(money, {
    shown: shownMoney,
    unset: NO_MONEY,
    hiddenFrom: ["advertiser"],
    sample: "10.0000",
    form: { part: "payout", label: "Payout value", hint: "12.50, or 10 for 10 %" },
  }),
  caps: field(caps, { shown: z.looseObject({}), unset: {}, hiddenFrom: ["partner"] }),
  targeting: field(targeting, { shown: z.looseObject({}), unset: {} }),
  conversion_method: field(oneOf(...CONVERSION_METHODS), {
    shown: z.enum(CONVERSION_METHODS),
    unset: "any",
    form: {
      part: "counting",
      label: "Reported by",
      choices: { any: "Pixel or server", pixel: "Pixel only", s2s: "Server only" },
    },
  }),
  unique_per_click: field(flag, {
    shown: z.boolean(),
    unset: true,
    form: { part: "counting", label: "One conversion for each click", kind: "flag" },
  }),
  attribution_days: field(count({ min: 1, max: DAYS_MAX }), {
    shown: z.int(),
    unset: 30,
    form: { part: "counting", label: "Days after the click", kind: "number" },
  }),
  default_status: field(oneOf(...FIRST_STATUSES), {
    shown: z.enum(FIRST_STATUSES),
    unset: "approved",
    hiddenFrom: ["partner"],
    form: {
      part: "counting",
      label: "New conversions are",
      choices: { approved: "Approved", pending: "Pending" },
    },
  }),
  thumbnail_url: textField(orEmpty(targetUrl), { note: "Picture for lists" }),
  tags: field(tags, {
    shown: z.array(z.string()),
    unset: [],
    form: { part: "finding", label: "Tags", kind: "list", hint: "Separate with commas" },
  }),
  is_featured: field(flag, {
    shown: z.boolean(),
    unset: false,
    note: "Shown to partners first",
    form: { part: "finding", label: "Featured: partners see it first", kind: "flag" },
  }),
  /** Which parameters of a link its landing page gets (G244). */
  pass_parameters: field(oneOf("none", "utm", "all"), { unset: "none" }),
};
