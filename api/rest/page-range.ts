import type { Preset } from "../../schemas/time/presets.ts";
import { type RangeQuery, resolveRange, type TimeRange } from "../../schemas/time/range.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../errors.ts";
import type { OperationContext } from "../operation.ts";
import type { OpenPage } from "./page.ts";

/**
 * The range of a time-ranged list: the query's on the first page, and on later ones that same range, so that a moving "now"
 * does not move it (G33).
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
    // The cursor is signed by us, and zones do not go away.
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
