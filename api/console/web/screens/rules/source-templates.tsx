import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { conditionsText } from "./conditions-text.ts";
import { SUB_CHOICES } from "./sub-choices.ts";

type Template = components["schemas"]["TrafficSourceTemplate"];

const TEMPLATES: RecordResource<Template> = {
  title: "Traffic-source templates",
  noun: "template",
  about: "Clicks of the named partners must carry these sub IDs and this source ID.",
  name: "traffic-source-templates",
  titleOf: ({ name }) => name,
  columns: [
    {
      name: "name",
      title: "Template",
      opens: true,
      cell: (row) => <StrangerText text={row.name} />,
    },
    { name: "source", title: "Source", cell: (row) => <StrangerText text={row.traffic_source} /> },
    {
      name: "params",
      title: "Sub IDs",
      cell: (row) => <StrangerText text={conditionsText(row.params)} />,
    },
    { name: "source-id", title: "Source ID", cell: (row) => <StrangerText text={row.source_id} /> },
    {
      name: "partners",
      title: "Partners",
      isNumber: true,
      cell: (row) => row.affiliate_ids.length,
    },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    { name: "traffic_source", label: "Traffic source", hint: "Such as google" },
    { name: "params", label: "Sub IDs", kind: "texts", choices: SUB_CHOICES },
    { name: "source_id", label: "Source ID", hint: "Such as {campaignid}" },
    { name: "affiliate_ids", label: "Partners", kind: "records", load: affiliateIdChoices },
  ],
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(
      api.GET("/traffic-source-templates", { params: { query: fromAddress(query) }, signal }),
    ),
  get: async (api, id, signal) =>
    (await read(api.GET("/traffic-source-templates/{id}", { params: { path: { id } }, signal })))
      .data,
  create: async (api, body) =>
    (await read(api.POST("/traffic-source-templates", { body: { name: "", ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/traffic-source-templates/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/traffic-source-templates/{id}", { params: { path: { id } } })),
};

export function SourceTemplates(): ReactElement {
  return <RecordScreen resource={TEMPLATES} />;
}
