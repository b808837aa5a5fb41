import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices } from "../../client/choices.ts";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { FormField, RecordBody } from "../../records/form-field.ts";
import type { FormStep } from "../../records/form-steps.ts";
import { NewPage } from "../../records/new-page.tsx";
import { finish, type Remaining } from "../../records/unfinished.tsx";
import { EVENT_CODE, EVENT_FIELDS } from "./event-fields.ts";
import { OFFER_LIST } from "./offer.ts";
import {
  ADVERTISER,
  CAPS,
  COUNTING,
  CURRENCY,
  DESTINATION,
  FALLBACK,
  FINDING,
  MONEY,
  NAME,
  STATUS,
  TARGETING,
  TEXTS,
  VISIBILITY,
} from "./offer-fields.ts";

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
  fields: [EVENT_CODE, ...EVENT_FIELDS],
};

/** Not a field of the offer: each of them is given access once it is made. */
const PARTNERS: FormField = {
  name: "partners",
  label: "Partners that may run it at once",
  kind: "records",
  load: affiliateIdChoices,
};

const STEPS: readonly FormStep[] = [
  {
    name: "basics",
    title: "Basics",
    about: "Whose offer it is, and where visitors are sent.",
    fields: [
      NAME,
      CODE,
      ADVERTISER,
      { ...CURRENCY, hint: "Empty: the advertiser's currency" },
      DESTINATION,
      FALLBACK,
      STATUS,
      ...TEXTS,
    ],
  },
  {
    name: "money",
    title: "Money and events",
    about: "What is paid and received for a conversion. Further events have terms of their own.",
    fields: [...MONEY, ...COUNTING, EVENTS],
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
    fields: [VISIBILITY, PARTNERS, ...FINDING],
  },
];

const INITIAL = {
  status: "active",
  visibility: "public",
  payout_type: "cpa",
  revenue_type: "rpa",
  default_status: "approved",
  conversion_method: "any",
  unique_per_click: true,
  attribution_days: 30,
};

/** Makes an offer in steps, with one request, and then gives the partners access. */
export function NewOffer(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const create = useWrite(["offers"], async ({ partners, ...terms }: RecordBody) => {
    const { data } = await read(
      api.POST("/offers", {
        body: { name: "", destination_url: "", advertiser_id: 0, ...terms },
      }),
    );
    const path = `${base}/offers/${data.id}`;
    const chosen = Array.isArray(partners) ? partners.map(String) : [];
    await finish(
      path,
      await Promise.all(chosen.map(async (one) => await accessFor(membership, data.id, one))),
    );
    return path;
  });
  return (
    <NewPage
      list={OFFER_LIST}
      noun="offer"
      mayWrite={membership.role === "admin" && mayDo(membership, "offers.write")}
      steps={STEPS}
      initial={INITIAL}
      onCreate={create.mutateAsync}
    />
  );
}

/** Gives a partner access to the new offer. Its name is for the case that it fails. */
async function accessFor(membership: Membership, offer: number, id: string): Promise<Remaining> {
  const { api } = membership;
  const find = async (): Promise<{ readonly name: string; readonly code: string }> =>
    (await read(api.GET("/affiliates/{id}", { params: { path: { id } } }))).data;
  return {
    title: `Give access to ${await nameOf(find, id)}`,
    run: async () => {
      // Access is given by the code of the partner.
      const params = { path: { id: String(offer), affiliate: (await find()).code } };
      const body = { status: "approved" } as const;
      await read(api.PUT("/offers/{id}/affiliates/{affiliate}", { params, body }));
    },
  };
}

async function nameOf(find: () => Promise<{ readonly name: string }>, id: string): Promise<string> {
  try {
    return (await find()).name;
  } catch {
    return `the partner with the ID ${id}`;
  }
}
