import { AFFILIATE } from "../../../../../.build/console/forms.js";
import { userChoices } from "../../client/user-choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices, currencyChoices } from "../../records/known-choices.ts";

const MANAGER: FormField = {
  name: "manager_id",
  label: "Manager",
  kind: "record",
  load: userChoices,
  isNullable: true,
};

/** Who looks after the partner, and how it works. */
export const WORK: readonly FormField[] = [
  ...AFFILIATE.status,
  MANAGER,
  ...AFFILIATE.work,
  ...AFFILIATE.texts,
];

export const CONTACT: readonly FormField[] = [
  ...AFFILIATE.contact,
  { name: "country", label: "Country", load: countryChoices },
];

export const TERMS: readonly FormField[] = [
  ...AFFILIATE.terms,
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
