import { userChoices } from "../../client/user-choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { PAID_AT, CONTACT as PARTNER_CONTACT } from "../affiliates/affiliate-fields.ts";

export const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["paused", "Paused"],
    ["inactive", "Inactive"],
  ],
};

export const BASICS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  STATUS,
  {
    name: "account_manager_id",
    label: "Manager",
    kind: "record",
    load: userChoices,
    isNullable: true,
  },
  { name: "tags", label: "Tags", kind: "list", hint: "Separate with commas" },
  { name: "notes", label: "Internal notes", kind: "area" },
];

export const CONTACT: readonly FormField[] = PARTNER_CONTACT.filter(
  ({ name }) => name !== "messenger",
);

export const BILLING: readonly FormField[] = [
  { name: "currency", label: "Currency", load: currencyChoices, hint: "Of new offers" },
  {
    name: "billing_terms",
    label: "Pays",
    choices: [...PAID_AT, ["prepaid", "In advance"]],
  },
];
