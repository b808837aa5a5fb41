import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { name, oneOf, recordId, shownTime, words } from "../../fields/body-fields.ts";
import { addressRanges, countries, recordIds, subConditions } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { wordParam } from "../../http/query-fields.ts";
import type { FieldFaults } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";
import { conditionFaults } from "./condition-faults.ts";

const STATUSES = ["active", "paused"] as const;
const ACTIONS = ["block", "forward"] as const;

const conditions = z
  .strictObject(
    {
      affiliate_ids: recordIds,
      offer_ids: recordIds,
      source_ids: words(255),
      sub: subConditions,
      countries,
      ip_ranges: addressRanges,
      user_agent_contains: words(255),
    },
    "expected an object",
  )
  .partial();

/** Rules that stop clicks or send them to another offer (G146). */
export const trafficControls = manage({
  resource: "traffic_control",
  names: { one: "TrafficControl", many: "TrafficControls" },
  path: "/traffic-controls",
  table: "traffic_control",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
    conditions: field(conditions, { shown: z.looseObject({}), required: true }),
    action: field(oneOf(...ACTIONS), { shown: z.enum(ACTIONS), required: true }),
    forward_offer_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: { status: wordParam(...STATUSES), action: wordParam(...ACTIONS) },
  read: staff("offers.read"),
  write: adminWrite("offers.write"),
  references: { forward_offer_id: "offer" },
  findFaults: async (context, values) => ({
    ...forwardFaults(values),
    ...(await conditionFaults(context, values["conditions"])),
  }),
});

function forwardFaults(values: Readonly<Record<string, unknown>>): FieldFaults {
  const { action, forward_offer_id: target = null } = values;
  if (action === "forward" && target === null)
    return { forward_offer_id: "required to forward clicks" };
  if (action === "block" && target !== null)
    return { forward_offer_id: "a control that blocks cannot forward to an offer" };
  return {};
}
