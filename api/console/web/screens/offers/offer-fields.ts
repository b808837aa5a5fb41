import type { FormField } from "../../records/form-field.ts";
import { capsField } from "./caps-field.ts";
import { targetingField } from "./targeting-field.ts";

/** Fields of a new offer. */
export const OFFER_FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  {
    name: "destination_url",
    label: "Destination",
    required: true,
    hint: "Where visitors are sent; {click_id} and other macros are filled in",
  },
  {
    name: "status",
    label: "Status",
    choices: [
      ["active", "Active"],
      ["paused", "Paused"],
    ],
  },
  {
    name: "visibility",
    label: "Visibility",
    choices: [
      ["public", "Public: every partner may run it"],
      ["approval", "By approval: partners ask for it"],
      ["private", "Private: for partners that you choose"],
    ],
  },
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
  {
    name: "fallback_url",
    label: "Fallback",
    hint: "For visitors that may not be sent to the destination",
  },
  { name: "attribution_days", label: "Days after the click", kind: "number" },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "description", label: "Description", kind: "area" },
  { name: "restrictions", label: "Restrictions for partners", kind: "area" },
];

/** What an offer has in addition once it exists. */
export const RULE_FIELDS: readonly FormField[] = [
  targetingField("targeting", "Targeting"),
  capsField("caps", "Caps"),
];

/** Fields of an offer that people change by hand. */
export const ALL_FIELDS: readonly FormField[] = [
  ...OFFER_FIELDS,
  { name: "category", label: "Category" },
  { name: "preview_url", label: "Preview", hint: "A page that partners may look at" },
  { name: "allowed_domains", label: "Allowed domains", kind: "list", hint: "For links with url=" },
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
  { name: "is_featured", label: "Featured: partners see it first", kind: "flag" },
  ...RULE_FIELDS,
];
