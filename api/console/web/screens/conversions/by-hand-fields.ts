import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";

/** Where a conversion comes from. A click says the offer and the partner. */
export const SOURCE_FIELDS: readonly FormField[] = [
  { name: "click_id", label: "Click ID", hint: "If you know it: offer and partner follow from it" },
  {
    name: "offer_id",
    label: "Offer",
    kind: "record",
    load: offerIdChoices,
    isNullable: true,
  },
  {
    name: "affiliate_id",
    label: "Partner",
    kind: "record",
    load: affiliateIdChoices,
    isNullable: true,
  },
];

/** What was sold. */
export function detailFields(
  events: readonly { readonly code: string; readonly name: string }[],
): readonly FormField[] {
  return [
    {
      name: "event",
      label: "Event",
      required: true,
      choices: events.map(({ code, name }) => [code, name === "" ? code : `${name} (${code})`]),
    },
    {
      name: "adv_txid",
      label: "Order ID",
      hint: "Each is recorded once. Leave empty to generate one",
    },
    { name: "sale_amount", label: "Sale amount", hint: "Such as 12.50" },
    { name: "currency", label: "Currency", load: currencyChoices },
    { name: "notes", label: "Note", kind: "area" },
  ];
}
