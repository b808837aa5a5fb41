import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, offerIdChoices } from "../../client/choices.ts";
import { SafeLink } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { DEAL_STATUS } from "./deal-status.ts";

type ProductFeed = components["schemas"]["ProductFeed"];

const FEEDS: RecordResource<ProductFeed> = {
  title: "Product feeds",
  noun: "product feed",
  about: "Addresses of an advertiser's product lists, for partners who compare prices.",
  name: "product-feeds",
  titleOf: ({ name }) => name,
  columns: [
    { name: "name", title: "Feed", opens: true, cell: (row) => <StrangerText text={row.name} /> },
    {
      name: "advertiser",
      title: "Advertiser",
      cell: (row) => <StrangerText text={row.advertiser} />,
    },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
    { name: "format", title: "Format", cell: ({ format }) => format.toUpperCase() },
    { name: "status", title: "Status", cell: ({ status = "" }) => <StatusBadge status={status} /> },
    { name: "url", title: "Address", cell: (row) => <SafeLink href={row.feed_url} /> },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    { name: "advertiser_id", label: "Advertiser", kind: "record", load: advertiserChoices },
    { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices, isNullable: true },
    { name: "feed_url", label: "Address", required: true },
    {
      name: "format",
      label: "Format",
      choices: [
        ["csv", "CSV"],
        ["tsv", "TSV"],
        ["xml", "XML"],
        ["json", "JSON"],
      ],
    },
    DEAL_STATUS,
    { name: "description", label: "Description", kind: "area" },
  ],
  initial: { status: "active", format: "csv" },
  permission: "advertisers.write",
  list: async (api, _query, signal) => await read(api.GET("/product-feeds", { signal })),
  create: async (api, body) =>
    (
      await read(
        api.POST("/product-feeds", { body: { advertiser_id: 0, name: "", feed_url: "", ...body } }),
      )
    ).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/product-feeds/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/product-feeds/{id}", { params: { path: { id } } })),
  states: { on: "active", off: "inactive" },
};

export function ProductFeeds(): ReactElement {
  return <RecordScreen resource={FEEDS} />;
}
