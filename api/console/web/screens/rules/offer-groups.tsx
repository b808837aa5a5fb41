import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { CapMeters } from "../offers/cap-meters.tsx";
import { capsField } from "../offers/caps-field.ts";
import { conditionsText } from "./conditions-text.ts";

type OfferGroup = components["schemas"]["OfferGroup"];

const OFFER_GROUPS: RecordResource<OfferGroup> = {
  title: "Offer groups",
  noun: "offer group",
  about: "The offers of a group share its caps.",
  name: "offer-groups",
  titleOf: ({ name }) => name,
  columns: [
    { name: "name", title: "Group", opens: true, cell: (row) => <StrangerText text={row.name} /> },
    { name: "offers", title: "Offers", isNumber: true, cell: (row) => row.offer_ids.length },
    { name: "caps", title: "Caps", cell: ({ caps }) => conditionsText(caps) },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    { name: "offer_ids", label: "Offers", kind: "records", load: offerIdChoices },
    capsField("caps", "Caps of all offers together"),
  ],
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(api.GET("/offer-groups", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/offer-groups/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/offer-groups", { body: { name: "", ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/offer-groups/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/offer-groups/{id}", { params: { path: { id } } })),
  more: ({ id }) => <CapMeters query={{ offer_group_id: String(id) }} />,
};

export function OfferGroups(): ReactElement {
  return <RecordScreen resource={OFFER_GROUPS} />;
}
