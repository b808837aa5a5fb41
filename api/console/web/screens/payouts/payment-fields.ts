import type { FormField } from "../../records/form-field.ts";
import { countryChoices } from "../../records/known-choices.ts";
import type { Method } from "./payout.ts";

const ADDRESS: FormField = {
  name: "address",
  label: "Address of the holder",
  kind: "group",
  isSparse: true,
  fields: [
    { name: "street", label: "Street" },
    { name: "postcode", label: "Postcode" },
    { name: "town", label: "Town" },
    { name: "country", label: "Country", load: countryChoices },
  ],
};
const ACCOUNT: readonly FormField[] = [{ name: "account", label: "Account" }];
const OF_METHOD: Readonly<Record<Method, readonly FormField[]>> = {
  wire: [
    { name: "holder", label: "Account holder" },
    { name: "iban", label: "IBAN", hint: "Without an IBAN: account number and bank code below" },
    { name: "account_number", label: "Account number" },
    { name: "bank_code", label: "Bank code" },
    { name: "bank_country", label: "Country of the bank", load: countryChoices },
    { name: "bic", label: "BIC" },
    { name: "bank_name", label: "Bank" },
    ADDRESS,
  ],
  wallet_a: ACCOUNT,
  wallet_b: ACCOUNT,
  crypto: [
    { name: "network", label: "Network", hint: "Such as BTC" },
    { name: "address", label: "Address of the wallet" },
  ],
  other: [{ name: "note", label: "How to pay", kind: "area" }],
};

/** What a method needs to know. Only what is filled in is sent. */
export function detailsFields(method: Method): FormField {
  return {
    name: "payment_details",
    label: "Where the money goes",
    kind: "group",
    isSparse: true,
    fields: OF_METHOD[method],
  };
}

const COUNTRY_AND_NUMBER: readonly FormField[] = [
  { name: "country", label: "Tax country", load: countryChoices },
  { name: "vat_id", label: "VAT number" },
];

export const OWN_TAX: FormField = {
  name: "tax",
  label: "Tax number",
  kind: "group",
  fields: COUNTRY_AND_NUMBER,
};

export const STAFF_TAX: FormField = {
  name: "tax",
  label: "Tax number and rate",
  kind: "group",
  fields: [
    ...COUNTRY_AND_NUMBER,
    {
      name: "mode",
      label: "How it is taxed",
      choices: [
        ["none", "No tax"],
        ["domestic", "Domestic"],
        ["reverse_charge", "Reverse charge"],
        ["exempt", "Exempt"],
      ],
    },
    { name: "rate", label: "Rate in percent", hint: "Such as 19" },
  ],
};
