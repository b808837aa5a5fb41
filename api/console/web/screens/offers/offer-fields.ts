import { advertiserChoices } from "../../client/choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { capsField } from "./caps-field.ts";
import { targetingField } from "./targeting-field.ts";

export const NAME: FormField = { name: "name", label: "Name", required: true };

export const ADVERTISER: FormField = {
  name: "advertiser_id",
  label: "Advertiser",
  kind: "record",
  load: advertiserChoices,
  required: true,
};

export const DESTINATION: FormField = {
  name: "destination_url",
  label: "Destination",
  required: true,
  hint: "Where visitors are sent; {click_id} and other macros are filled in",
};

export const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["paused", "Paused"],
  ],
};

export const FALLBACK: FormField = {
  name: "fallback_url",
  label: "Fallback",
  hint: "For visitors that may not be sent to the destination",
};

const ADDRESSES: readonly FormField[] = [
  FALLBACK,
  { name: "preview_url", label: "Preview", hint: "A page that partners may look at" },
  { name: "allowed_domains", label: "Allowed domains", kind: "list", hint: "For links with url=" },
];

/** Words by which an offer is found. */
export const FINDING: readonly FormField[] = [
  { name: "category", label: "Category" },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "is_featured", label: "Featured: partners see it first", kind: "flag" },
];

export const TEXTS: readonly FormField[] = [
  { name: "description", label: "Description", kind: "area" },
  { name: "restrictions", label: "Restrictions for partners", kind: "area" },
];

/** What the offer is, and where it leads. */
export const BASICS: readonly FormField[] = [
  NAME,
  ADVERTISER,
  DESTINATION,
  ...ADDRESSES,
  ...FINDING,
  ...TEXTS,
];

export const VISIBILITY: FormField = {
  name: "visibility",
  label: "Visibility",
  choices: [
    ["public", "Public: every partner may run it"],
    ["approval", "By approval: partners ask for it"],
    ["private", "Private: for partners that you choose"],
  ],
};

/** What is paid for the default event. */
export const MONEY: readonly FormField[] = [
  {
    name: "payout_type",
    label: "Payout",
    choices: [
      ["cpa", "Amount for each conversion"],
      ["cps", "Percent of the sale"],
      ["cpc", "Amount for each click"],
    ],
  },
  { name: "payout", label: "Payout value", hint: "12.50, or 10 for 10 %" },
  {
    name: "revenue_type",
    label: "Revenue",
    choices: [
      ["rpa", "Amount for each conversion"],
      ["rps", "Percent of the sale"],
      ["rpc", "Amount for each click"],
    ],
  },
  { name: "revenue", label: "Revenue value", hint: "15.00, or 12 for 12 %" },
];

export const CURRENCY: FormField = {
  name: "currency",
  label: "Currency",
  load: currencyChoices,
};

/** Which reports of conversions count. */
export const COUNTING: readonly FormField[] = [
  {
    name: "default_status",
    label: "New conversions are",
    choices: [
      ["approved", "Approved"],
      ["pending", "Pending"],
    ],
  },
  {
    name: "conversion_method",
    label: "Reported by",
    choices: [
      ["any", "Pixel or server"],
      ["pixel", "Pixel only"],
      ["s2s", "Server only"],
    ],
  },
  { name: "unique_per_click", label: "One conversion for each click", kind: "flag" },
  { name: "attribution_days", label: "Days after the click", kind: "number" },
];

export const CAPS: FormField = capsField("caps", "Caps");
export const TARGETING: FormField = targetingField("targeting", "Targeting");
