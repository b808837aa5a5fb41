import type { Preset } from "../../schemas/time/presets.ts";
import { type RangeQuery, resolveRange, type TimeRange } from "../../schemas/time/range.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { OpenPage } from "./page.ts";

/**
 * The range of a list over time. The first page uses the query's range, later pages reuse it, so that a moving "now" does not
 * change it (G33).
 *
 * @throws {ApiError} `invalid_parameter`.
 */
export function rangeOfPage(
  { nowMs, workspace }: Pick<OperationContext, "nowMs" | "workspace">,
  query: RangeQuery,
  page: Pick<OpenPage, "range">,
  rules: { readonly defaultPreset: Preset; readonly daysMax: number },
): TimeRange {
  if (page.range !== undefined) {
    const { fromMs, toMs, tz } = page.range;
    const zone = zoneOf(tz);
    // The cursor is signed by us, and known zones stay known.
    if (zone === undefined) throw new Error(`a cursor names the unknown zone ${tz}`);
    return { fromMs, toMs, zone };
  }
  const { from, to, tz, preset } = query;
  const result = resolveRange(
    { from, to, tz, preset },
    { nowMs, workspaceTimezone: workspace.timezone, ...rules },
  );
  if (result.kind === "refused") throw invalidParameter(result.param, result.message);
  return result.range;
}
