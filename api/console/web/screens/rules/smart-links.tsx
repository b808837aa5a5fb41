import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { FormField } from "../../records/form-field.ts";
import { RecordName } from "../../records/record-name.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { targetingField } from "../offers/targeting-field.ts";
import { STATES, STATUS } from "./states.ts";

type SmartLink = components["schemas"]["SmartLink"];

const MODES: Readonly<Record<SmartLink["mode"], string>> = {
  weighted: "By weight",
  waterfall: "The first that takes the visitor",
};
const MODE: FormField = {
  name: "mode",
  label: "Choice of the offer",
  choices: Object.entries(MODES),
};
const RULES: FormField = {
  name: "rules",
  label: "Rules",
  kind: "rows",
  hint: "The first rule whose conditions the visitor meets decides",
  row: { noun: "Rule", initial: { offers: [{ weight: 1 }] } },
  fields: [
    { name: "name", label: "Name" },
    targetingField("conditions", "Conditions"),
    {
      name: "offers",
      label: "Targets",
      kind: "rows",
      row: { noun: "Target", initial: { weight: 1 } },
      fields: [
        { name: "offer_id", label: "Offer", kind: "record", load: offerIdChoices },
        { name: "weight", label: "Weight", kind: "number" },
      ],
    },
  ],
};

const SMART_LINKS: RecordResource<SmartLink> = {
  title: "Smart links",
  noun: "smart link",
  about: "One link that sends each visitor to one of several offers.",
  name: "smart-links",
  titleOf: ({ name }) => name,
  columns: [
    {
      name: "name",
      title: "Smart link",
      opens: true,
      cell: (row) => <StrangerText text={row.name} />,
    },
    {
      name: "code",
      title: "Code",
      cell: ({ code }) => (
        <span className="row">
          <code>{code}</code>
          <CopyButton label="Copy the code" text={code} />
        </span>
      ),
    },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    { name: "mode", title: "Choice", cell: ({ mode }) => MODES[mode] },
    { name: "rules", title: "Rules", isNumber: true, cell: ({ rules }) => rules.length },
    {
      name: "partner",
      title: "Partner",
      cell: (row) =>
        row.affiliate_id === null ? (
          "Every partner"
        ) : (
          <RecordName of={affiliateIdChoices} id={row.affiliate_id} />
        ),
    },
  ],
  filters: [
    { name: "code", label: "Code" },
    { name: "status", label: "Status", choices: STATUS.choices },
    { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    { name: "code", label: "Code", hint: "In the address of the link; made for you if empty" },
    STATUS,
    {
      name: "affiliate_id",
      label: "Only for the partner",
      kind: "record",
      load: affiliateIdChoices,
      isNullable: true,
    },
    MODE,
    RULES,
  ],
  initial: { status: "active", mode: "weighted" },
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(api.GET("/smart-links", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/smart-links/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (await read(api.POST("/smart-links", { body: { name: "", ...body } }))).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/smart-links/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/smart-links/{id}", { params: { path: { id } } })),
  states: STATES,
};

export function SmartLinks(): ReactElement {
  return <RecordScreen resource={SMART_LINKS} />;
}
