import { countryChoices } from "../../records/known-choices.ts";
import type { FormField } from "../../records/record-form.tsx";

export const AFFILIATE_FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  {
    name: "status",
    label: "Status",
    choices: [
      ["active", "Active"],
      ["pending", "Pending"],
      ["blocked", "Blocked"],
      ["rejected", "Rejected"],
    ],
  },
  { name: "email", label: "E-mail" },
  { name: "company", label: "Company" },
  { name: "contact_name", label: "Contact" },
  { name: "phone", label: "Phone" },
  { name: "website", label: "Website" },
  { name: "messenger", label: "Messenger" },
  { name: "country", label: "Country", load: countryChoices },
  { name: "tier", label: "Tier" },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "traffic_sources", label: "Traffic sources", kind: "area" },
  { name: "notes", label: "Internal notes", kind: "area" },
];
