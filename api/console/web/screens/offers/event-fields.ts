import type { FormField } from "../../records/form-field.ts";

export const EVENT_CODE: FormField = {
  name: "code",
  label: "Code",
  required: true,
  hint: "Such as signup: advertisers report it as event=",
};
/** Terms of an event. */
export const EVENT_FIELDS: readonly FormField[] = [
  { name: "name", label: "Name" },
  {
    name: "payout_type",
    label: "Payout",
    choices: [
      ["cpa", "Amount for each conversion"],
      ["cps", "Percent of the sale"],
    ],
  },
  { name: "payout", label: "Payout value" },
  {
    name: "revenue_type",
    label: "Revenue",
    choices: [
      ["rpa", "Amount for each conversion"],
      ["rps", "Percent of the sale"],
    ],
  },
  { name: "revenue", label: "Revenue value" },
  { name: "is_private", label: "Private: partners do not see it", kind: "flag" },
  { name: "allow_multiple", label: "Several for each click", kind: "flag" },
];
