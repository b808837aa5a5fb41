import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices } from "../../records/known-choices.ts";
import { RecordName } from "../../records/record-name.tsx";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { ConditionsCell } from "./conditions-cell.tsx";
import { STATES, STATUS } from "./states.ts";
import { SUB_CHOICES } from "./sub-choices.ts";

type TrafficControl = components["schemas"]["TrafficControl"];

const ACTION: FormField = {
  name: "action",
  label: "Action",
  choices: [
    ["block", "Stop the click"],
    ["forward", "Send it to another offer"],
  ],
};
const CONDITIONS: FormField = {
  name: "conditions",
  label: "Clicks that meet all of these",
  kind: "group",
  isSparse: true,
  fields: [
    { name: "offer_ids", label: "Offers", kind: "records", load: offerIdChoices },
    { name: "affiliate_ids", label: "Partners", kind: "records", load: affiliateIdChoices },
    { name: "countries", label: "Countries", kind: "list", load: countryChoices },
    { name: "source_ids", label: "Source IDs", kind: "list" },
    { name: "ip_ranges", label: "IP addresses", kind: "list", hint: "Such as 198.51.100.0/24" },
    { name: "user_agent_contains", label: "User agent contains", kind: "list" },
    { name: "sub", label: "Sub IDs", kind: "lists", choices: SUB_CHOICES },
  ],
};

const TRAFFIC_CONTROLS: RecordResource<TrafficControl> = {
  title: "Traffic controls",
  noun: "traffic control",
  about: "A traffic control stops clicks, or sends them to another offer.",
  name: "traffic-controls",
  titleOf: ({ name }) => name,
  columns: [
    {
      name: "name",
      title: "Control",
      opens: true,
      cell: (row) => <StrangerText text={row.name} />,
    },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      name: "action",
      title: "Action",
      cell: (row) =>
        row.forward_offer_id === null ? (
          "stop"
        ) : (
          <>
            send to <RecordName of={offerIdChoices} id={row.forward_offer_id} />
          </>
        ),
    },
    {
      name: "conditions",
      title: "Conditions",
      cell: (row) => <ConditionsCell conditions={row.conditions} />,
    },
  ],
  filters: [
    { name: "status", label: "Status", choices: STATUS.choices },
    { name: "action", label: "Action", choices: ACTION.choices },
  ],
  fields: [
    { name: "name", label: "Name", required: true },
    STATUS,
    ACTION,
    {
      name: "forward_offer_id",
      label: "Other offer",
      kind: "record",
      load: offerIdChoices,
      isNullable: true,
    },
    CONDITIONS,
  ],
  initial: { status: "active", action: "block" },
  permission: "offers.write",
  list: async (api, query, signal) =>
    await read(api.GET("/traffic-controls", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/traffic-controls/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (
      await read(
        api.POST("/traffic-controls", {
          body: { name: "", action: "block", conditions: {}, ...body },
        }),
      )
    ).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/traffic-controls/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/traffic-controls/{id}", { params: { path: { id } } })),
  states: STATES,
};

export function TrafficControls(): ReactElement {
  return <RecordScreen resource={TRAFFIC_CONTROLS} />;
}
