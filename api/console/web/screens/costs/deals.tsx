import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, offerIdChoices } from "../../client/choices.ts";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { DEAL_STATUS } from "./deal-status.ts";

type Deal = components["schemas"]["Deal"];

const DEALS: RecordResource<Deal> = {
  title: "Deals",
  noun: "deal",
  about:
    "Offers of an advertiser to shoppers, such as a discount with a code. Partners see the active ones.",
  name: "deals",
  titleOf: ({ title }) => title,
  columns: [
    { name: "title", title: "Deal", opens: true, cell: (row) => <StrangerText text={row.title} /> },
    {
      name: "advertiser",
      title: "Advertiser",
      cell: (row) => <StrangerText text={row.advertiser} />,
    },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
    { name: "code", title: "Code", cell: (row) => <code>{row.coupon_code}</code> },
    { name: "status", title: "Status", cell: ({ status = "" }) => <StatusBadge status={status} /> },
    { name: "starts", title: "Starts", cell: (row) => <InstantText iso={row.starts_at} /> },
    { name: "ends", title: "Ends", cell: (row) => <InstantText iso={row.ends_at} /> },
  ],
  fields: [
    { name: "title", label: "Title", required: true },
    { name: "advertiser_id", label: "Advertiser", kind: "record", load: advertiserChoices },
    { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices, isNullable: true },
    DEAL_STATUS,
    { name: "coupon_code", label: "Coupon code" },
    { name: "landing_url", label: "Landing page" },
    { name: "starts_at", label: "Starts (UTC)", kind: "time" },
    { name: "ends_at", label: "Ends (UTC)", kind: "time" },
    { name: "description", label: "Description", kind: "area" },
  ],
  initial: { status: "active" },
  permission: "advertisers.write",
  list: async (api, _query, signal) => await read(api.GET("/deals", { signal })),
  create: async (api, body) =>
    (await read(api.POST("/deals", { body: { advertiser_id: 0, title: "", ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/deals/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) => await read(api.DELETE("/deals/{id}", { params: { path: { id } } })),
  states: { on: "active", off: "inactive" },
};

export function Deals(): ReactElement {
  return <RecordScreen resource={DEALS} />;
}
