import { OFFER } from "../../../../../.build/console/forms.js";
import { affiliateIdChoices } from "../../client/choices.ts";
import type { FormField } from "../../records/form-field.ts";
import type { FormStep } from "../../records/form-steps.ts";
import { EVENT_CODE, EVENT_FIELDS } from "./event-fields.ts";
import { ADVERTISER, CAPS, CURRENCY, MONEY, TARGETING } from "./offer-fields.ts";

const CODE: FormField = {
  name: "code",
  label: "Code",
  hint: "Used in links. Leave empty to generate one",
};

const EVENTS: FormField = {
  name: "events",
  label: "Further events",
  kind: "rows",
  row: {
    noun: "event",
    // An event without a name is left to the API, which names it after its code.
    isSparse: true,
    initial: { payout_type: "cpa", payout: "0", revenue_type: "rpa", revenue: "0" },
  },
  fields: [...EVENT_CODE, ...EVENT_FIELDS],
};

/** Not a field of the offer: each of them is given access once it is made. */
const PARTNERS: FormField = {
  name: "partners",
  label: "Partners that may run it at once",
  kind: "records",
  load: affiliateIdChoices,
};

/** A new offer is described in these steps. */
export const STEPS: readonly FormStep[] = [
  {
    name: "basics",
    title: "Basics",
    about: "Whose offer it is, and where visitors are sent.",
    fields: [
      ...OFFER.name,
      CODE,
      ADVERTISER,
      { ...CURRENCY, hint: "Empty: the advertiser's currency" },
      ...OFFER.destination,
      ...OFFER.addresses,
      ...OFFER.status,
      ...OFFER.texts,
    ],
  },
  {
    name: "money",
    title: "Money and events",
    about: "What is paid and received for a conversion. Further events have terms of their own.",
    fields: [...MONEY, ...OFFER.counting, EVENTS],
  },
  {
    name: "rules",
    title: "Caps and targeting",
    about: "How much is accepted, and from which visitors. Empty: everything.",
    fields: [
      { ...CAPS, isFolded: false },
      { ...TARGETING, isFolded: false },
    ],
  },
  {
    name: "access",
    title: "Access and tags",
    about: "Which partners may run the offer, and how it is found.",
    fields: [...OFFER.access, PARTNERS, ...OFFER.finding],
  },
];
