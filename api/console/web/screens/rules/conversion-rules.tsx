import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { METHODS, statusWords } from "../../format/value-words.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { FormField } from "../../records/form-field.ts";
import { countryChoices } from "../../records/known-choices.ts";
import type { RecordResource } from "../../records/record-resource.ts";
import { RecordScreen } from "../../records/record-screen.tsx";
import { ConditionsCell } from "./conditions-cell.tsx";
import { RuleOrder } from "./rule-order.tsx";
import { STATES, STATUS } from "./states.ts";
import { SUB_CHOICES } from "./sub-choices.ts";

type ConversionRule = components["schemas"]["ConversionRule"];

const ACTION: FormField = {
  name: "action",
  label: "Action",
  choices: [
    ["hold", "Hold for review"],
    ["reject", "Reject"],
  ],
};
const CONDITIONS: FormField = {
  name: "conditions",
  label: "Conversions that meet all of these",
  kind: "group",
  isSparse: true,
  fields: [
    { name: "offer_ids", label: "Offers", kind: "records", load: offerIdChoices },
    { name: "affiliate_ids", label: "Partners", kind: "records", load: affiliateIdChoices },
    { name: "event_codes", label: "Events", kind: "list", hint: "Codes, several with commas" },
    { name: "countries", label: "Countries", kind: "list", load: countryChoices },
    { name: "min_sale_amount", label: "Sale from", hint: "Such as 10.00" },
    { name: "max_sale_amount", label: "Sale up to" },
    { name: "max_seconds_since_click", label: "Seconds after the click, at most", kind: "number" },
    {
      name: "methods",
      label: "Reported by",
      kind: "many",
      choices: METHODS,
    },
    { name: "sub", label: "Sub IDs", kind: "lists", choices: SUB_CHOICES },
  ],
};

const CONVERSION_RULES: RecordResource<ConversionRule> = {
  title: "Conversion rules",
  noun: "rule",
  about: "A rule holds or rejects new conversions. The first rule that applies decides.",
  name: "conversion-rules",
  titleOf: ({ name }) => name,
  columns: [
    { name: "name", title: "Rule", opens: true, cell: (row) => <StrangerText text={row.name} /> },
    { name: "position", title: "Position", isNumber: true, cell: ({ position }) => position },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    { name: "action", title: "Action", cell: ({ action }) => statusWords(action) },
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
    { name: "position", label: "Position", kind: "number", hint: "Lower positions come first" },
    CONDITIONS,
  ],
  initial: { status: "active", action: "hold", position: 0 },
  permission: "conversions.write",
  list: async (api, query, signal) =>
    await read(api.GET("/conversion-rules", { params: { query: fromAddress(query) }, signal })),
  get: async (api, id, signal) =>
    (await read(api.GET("/conversion-rules/{id}", { params: { path: { id } }, signal }))).data,
  create: async (api, body) =>
    (
      await read(
        api.POST("/conversion-rules", {
          body: { name: "", action: "hold", conditions: {}, ...body },
        }),
      )
    ).data,
  update: async (api, id, body) =>
    await read(api.PATCH("/conversion-rules/{id}", { params: { path: { id } }, body })),
  remove: async (api, id) =>
    await read(api.DELETE("/conversion-rules/{id}", { params: { path: { id } } })),
  states: STATES,
};

export function ConversionRules(): ReactElement {
  const [isOrdering, setOrdering] = useState(false);
  return (
    <>
      <RecordScreen
        resource={CONVERSION_RULES}
        actions={
          <button type="button" className="button" onClick={() => setOrdering(true)}>
            Change the order
          </button>
        }
      />
      {isOrdering && <RuleOrder onClose={() => setOrdering(false)} />}
    </>
  );
}
