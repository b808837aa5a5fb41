import { z } from "zod";
import { CLICK_STATUSES, LINK_TYPES } from "../../../schemas/events/click-record.ts";
import { forEachSubId, SUB_IDS } from "../../../schemas/events/sub-ids.ts";
import { parseClickId } from "../../../schemas/ids/click-id.ts";
import { isShown } from "../../access/visibility.ts";
import {
  booleanParam,
  idParam,
  shownClickId,
  textParam,
  wordParam,
} from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { sentAs } from "../../operation/parameters.ts";
import type { Role } from "../../operation/permissions.ts";
import { closedValue, nearestValue } from "../../reports/closed-values.ts";
import type { ClickFilter } from "./clicks.ts";

const clickIdParam = sentAs(
  z
    .string()
    .refine((text) => parseClickId(text) !== undefined, "expected 32 hex digits")
    .transform((text) => text.toLowerCase())
    .optional(),
  shownClickId,
);

/** Filters of the click list (G81). */
export const clickFilterParams = {
  offer_id: idParam,
  affiliate_id: idParam,
  smart_link_id: idParam,
  click_id: clickIdParam,
  status: wordParam(...CLICK_STATUSES),
  status_reason: textParam,
  country: textParam,
  link_type: wordParam(...LINK_TYPES),
  traffic_source: textParam,
  is_bot: booleanParam,
  ...forEachSubId(textParam),
};

type FilterName = keyof typeof clickFilterParams;
type FilterValues = z.output<z.ZodObject<typeof clickFilterParams>>;

const NAMES: readonly FilterName[] = [
  "offer_id",
  "affiliate_id",
  "smart_link_id",
  "click_id",
  "status",
  "status_reason",
  "country",
  "link_type",
  "traffic_source",
  "is_bot",
  ...SUB_IDS,
];
/** Filters that some roles may not use although they see the field (G81). */
const NOT_FOR: Partial<Record<Role, readonly FilterName[]>> = {
  partner: ["affiliate_id", "smart_link_id"],
};

/** @throws {ApiError} `invalid_parameter` for a filter that the role may not use. */
export function readClickFilters(values: FilterValues, role: Role): ClickFilter[] {
  return NAMES.flatMap((column): ClickFilter[] => {
    const value = values[column];
    if (value === undefined) return [];
    // A filter on a hidden field would reveal its values (VIS-059).
    const mayFilter = isShown(role, "click", column) && NOT_FOR[role]?.includes(column) !== true;
    if (!mayFilter) throw invalidParameter(column, "not for this key");
    if (column === "click_id") return [{ column, type: "ClickId", value }];
    if (column === "country") return [{ column, type: "String", value: countryOf(String(value)) }];
    return [{ column, type: typeOf(value), value }];
  });
}

/** As in the filters of reports. @throws {ApiError} `invalid_parameter` for an unknown country, with the nearest (G238). */
function countryOf(name: string): string {
  const code = closedValue("country", name);
  if (code !== undefined) return code;
  const nearest = nearestValue("country", name) ?? "";
  throw invalidParameter("country", `unknown country "${name.slice(0, 64)}", nearest: ${nearest}`);
}

function typeOf(value: number | string | boolean): ClickFilter["type"] {
  if (typeof value === "number") return "UInt32";
  return typeof value === "boolean" ? "Bool" : "String";
}
