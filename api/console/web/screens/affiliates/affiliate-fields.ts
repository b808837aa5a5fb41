import { userChoices } from "../../client/user-choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices, currencyChoices } from "../../records/known-choices.ts";

export const NAME: FormField = { name: "name", label: "Name", required: true };

export const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["pending", "Pending"],
    ["blocked", "Blocked"],
    ["rejected", "Rejected"],
  ],
};

export const MANAGER: FormField = {
  name: "manager_id",
  label: "Manager",
  kind: "record",
  load: userChoices,
  isNullable: true,
};

export const CONTACT: readonly FormField[] = [
  { name: "email", label: "E-mail" },
  { name: "company", label: "Company" },
  { name: "contact_name", label: "Contact" },
  { name: "phone", label: "Phone" },
  { name: "website", label: "Website" },
  { name: "messenger", label: "Messenger" },
  { name: "country", label: "Country", load: countryChoices },
];

export const WORK: readonly FormField[] = [
  { name: "tier", label: "Tier" },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "traffic_sources", label: "Traffic sources", kind: "area" },
  { name: "notes", label: "Internal notes", kind: "area" },
];

/** When somebody is paid, as the API has it. */
export const PAID_AT = [
  ["net7", "Net 7 days"],
  ["net15", "Net 15 days"],
  ["net30", "Net 30 days"],
  ["net45", "Net 45 days"],
  ["net60", "Net 60 days"],
  ["weekly", "Every week"],
  ["biweekly", "Every two weeks"],
  ["monthly", "Every month"],
  ["on_request", "On request"],
] as const;

export const TERMS: readonly FormField[] = [
  { name: "payment_terms", label: "Paid", choices: PAID_AT },
  { name: "min_payout", label: "Minimum payout", hint: "Such as 50.00" },
  { name: "currency", label: "Currency", load: currencyChoices },
];

export const ACCOUNT: FormField = {
  name: "payment_details",
  label: "Account to pay to",
  kind: "texts",
  choices: [
    ["account_holder", "Account holder"],
    ["iban", "IBAN"],
    ["bic", "BIC"],
    ["bank", "Bank"],
    ["account", "Account"],
    ["wallet", "Wallet"],
    ["email", "E-mail"],
    ["tax_id", "Tax ID"],
    ["note", "Note"],
  ],
};
