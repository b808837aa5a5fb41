import { z } from "zod";
import { CONVERSION_METHODS } from "../../../schemas/events/conversion-words.ts";
import { parseAmount } from "../../../schemas/money/amount.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { count, money, name, oneOf, shownTime } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { countries, eventCode, recordIds, subConditions } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { wordParam } from "../../http/query-fields.ts";
import type { FieldFaults } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";
import { conditionFaults } from "./condition-faults.ts";

const STATUSES = ["active", "paused"] as const;
const ACTIONS = ["reject", "hold"] as const;
const POSITION_MAX = 1_000_000;
const SECONDS_MAX = 315_360_000;
const EVENTS_MAX = 1_000;

const conditions = z
  .strictObject(
    {
      offer_ids: recordIds,
      affiliate_ids: recordIds,
      event_codes: listOf(eventCode, {
        expected: "expected a list of event codes",
        max: EVENTS_MAX,
        tooMany: `expected at most ${EVENTS_MAX} event codes`,
      }),
      countries,
      methods: listOf(oneOf(...CONVERSION_METHODS), {
        expected: "expected a list of methods",
        max: CONVERSION_METHODS.length,
        tooMany: `expected at most ${CONVERSION_METHODS.length} methods`,
      }),
      min_sale_amount: money,
      max_sale_amount: money,
      sub: subConditions,
      max_seconds_since_click: count({ min: 0, max: SECONDS_MAX }),
    },
    "expected an object",
  )
  .partial();

/** Rules that reject or hold the conversions that meet every condition, in the order of `position` (G100). */
export const conversionRules = manage({
  resource: "conversion_rule",
  names: { one: "ConversionRule", many: "ConversionRules" },
  path: "/conversion-rules",
  table: "conversion_rule",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    position: field(count({ min: 0, max: POSITION_MAX }), { shown: z.int(), unset: 0 }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
    action: field(oneOf(...ACTIONS), { shown: z.enum(ACTIONS), required: true }),
    conditions: field(conditions, { shown: z.looseObject({}), required: true }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: { status: wordParam(...STATUSES), action: wordParam(...ACTIONS) },
  read: staff("conversions.read"),
  write: adminWrite("conversions.write"),
  findFaults: async (context, values) => ({
    ...(await conditionFaults(context, values["conditions"])),
    ...amountFaults(values["conditions"]),
  }),
});

function amountFaults(given: unknown): FieldFaults {
  const parsed = conditions.safeParse(given);
  const { min_sale_amount: min, max_sale_amount: max } = parsed.data ?? {};
  if (min === undefined || max === undefined) return {};
  return (parseAmount(min) ?? 0n) > (parseAmount(max) ?? 0n)
    ? { "conditions.max_sale_amount": "expected at least min_sale_amount" }
    : {};
}
