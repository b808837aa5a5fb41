import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordName } from "../../records/record-name.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";

type PayoutOverride = components["schemas"]["PayoutOverride"];

const SHARES: ReadonlySet<string> = new Set(["cps", "rps"]);

const OWN_TERMS: RecordResource<PayoutOverride> = {
  title: "Own terms",
  noun: "own term",
  about: "What one partner gets for an offer, in place of the terms of the offer.",
  name: "payout-overrides",
  titleOf: (row) => `Own term ${row.id}`,
  columns: [
    {
      name: "partner",
      title: "Partner",
      opens: true,
      cell: (row) => <RecordName of={affiliateIdChoices} id={row.affiliate_id} />,
    },
    {
      name: "offer",
      title: "Offer",
      cell: ({ offer_id: id }) => (
        <RecordLink path="/offers" id={id}>
          <RecordName of={offerIdChoices} id={id} />
        </RecordLink>
      ),
    },
    { name: "event", title: "Event", cell: (row) => eventText(row.event_code) },
    {
      name: "payout",
      title: "Payout",
      isNumber: true,
      cell: (row) => ownText(row.payout_type, row.payout),
    },
    {
      name: "revenue",
      title: "Revenue",
      isNumber: true,
      cell: (row) => ownText(row.revenue_type, row.revenue),
    },
  ],
  filters: [
    { name: "offer_id", label: "Offer", load: offerIdChoices },
    { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  ],
  fields: [
    { name: "affiliate_id", label: "Partner", kind: "record", load: affiliateIdChoices },
    { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices },
    {
      name: "event_code",
      label: "Event",
      isNullable: true,
      hint: "Its code; * for all events; empty for the default event",
    },
    {
      name: "payout_type",
      label: "Payout",
      isNullable: true,
      choices: [
        ["cpa", "Amount for each conversion"],
        ["cps", "Percent of the sale"],
      ],
    },
    { name: "payout", label: "Payout value", isNullable: true, hint: "12.50, or 10 for 10 %" },
    {
      name: "revenue_type",
      label: "Revenue",
      isNullable: true,
      choices: [
        ["rpa", "Amount for each conversion"],
        ["rps", "Percent of the sale"],
      ],
    },
    { name: "revenue", label: "Revenue value", isNullable: true },
  ],
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(api.GET("/payout-overrides", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/payout-overrides/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/payout-overrides", { body: { offer_id: 0, affiliate_id: 0, ...body } })))
      .data,
  update: async (api, id, body) =>
    await read(api.PATCH("/payout-overrides/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/payout-overrides/{id}", { params: { path: { id } } })),
};

function eventText(code: string | null): string {
  if (code === null) return "Default event";
  return code === "*" ? "Every event" : code;
}

/** The amount as the API has it, in the offer's currency, which this list does not know. */
function ownText(type: string | null, value: string | null): string {
  if (type === null || value === null) return "";
  const text = value.replace(/\.?0+$/, "");
  return SHARES.has(type) ? `${text} %` : value;
}

/** Of all partners, or of one partner. */
export function OwnTerms({ partner }: { readonly partner?: number }): ReactElement {
  return (
    <RecordScreen
      resource={OWN_TERMS}
      {...(partner === undefined ? {} : { fixed: { affiliate_id: partner } })}
    />
  );
}
