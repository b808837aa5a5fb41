import { OFFER } from "../../../../../.build/console/forms.js";
import { advertiserChoices } from "../../client/choices.ts";
import type { FormField } from "../../records/form-field.ts";
import { currencyChoices } from "../../records/known-choices.ts";
import { capsField } from "./caps-field.ts";
import { targetingField } from "./targeting-field.ts";

export const ADVERTISER: FormField = {
  name: "advertiser_id",
  label: "Advertiser",
  kind: "record",
  load: advertiserChoices,
  required: true,
};

/** What the offer is and where it leads, without its name, advertiser and destination. */
export const DETAILS: readonly FormField[] = [...OFFER.addresses, ...OFFER.finding, ...OFFER.texts];

export const BASICS: readonly FormField[] = [
  ...OFFER.name,
  ADVERTISER,
  ...OFFER.destination,
  ...DETAILS,
];

/** What is paid for the default event. */
export const MONEY: readonly FormField[] = [...OFFER.payout, ...OFFER.revenue];

export const CURRENCY: FormField = {
  name: "currency",
  label: "Currency",
  load: currencyChoices,
};

export const CAPS: FormField = capsField("caps", "Caps");
export const TARGETING: FormField = targetingField("targeting", "Targeting");
