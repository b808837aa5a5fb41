import type { FormField } from "../../records/record-form.tsx";

/** Fields of an offer that people change by hand. */
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
  { name: "tags", label: "Tags", kind: "list", hint: "Several with commas" },
  { name: "description", label: "Description", kind: "area" },
  { name: "restrictions", label: "Restrictions for partners", kind: "area" },
];
