import { ADVERTISER } from "../../../../../.build/console/forms.js";
import { userChoices } from "../../client/user-choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices, currencyChoices } from "../../records/known-choices.ts";

export const BASICS: readonly FormField[] = [
  ...ADVERTISER.name,
  ...ADVERTISER.status,
  {
    name: "account_manager_id",
    label: "Manager",
    kind: "record",
    load: userChoices,
    isNullable: true,
  },
  ...ADVERTISER.work,
  ...ADVERTISER.texts,
];

export const CONTACT: readonly FormField[] = [
  ...ADVERTISER.contact,
  { name: "country", label: "Country", load: countryChoices },
];

export const BILLING: readonly FormField[] = [
  { name: "currency", label: "Currency", load: currencyChoices, hint: "Of new offers" },
  ...ADVERTISER.billing,
];
