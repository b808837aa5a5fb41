import type { Metric, ReportRow } from "../client/reports.ts";
import type { Figure } from "../format/figure.ts";
import { heightOf } from "../plots/pixels.ts";

/** The currency of a report, and the currencies whose money is not in it. */
export type Currencies = { readonly shown: string; readonly others: readonly string[] };

/** Why a figure of a row is not shown. Undefined for a figure that is shown, and without a row. */
export function whyAbsent(
  { name, kind, label }: Pick<Metric, "name" | "kind" | "label">,
  row: ReportRow | undefined,
  { shown, others }: Currencies,
): string | undefined {
  const value = row?.[name];
  if (value === undefined) return undefined;
  if (isBeyondCounted(name, value))
    return "More clicks than impressions were counted, because not every link has an impression pixel";
  if (value !== null) return undefined;
  if (name === "ctr") return "No impressions were counted";
  if (name === "cvr") return "No clicks were counted";
  if (kind === "price" && others.length > 0)
    return `${label} counts only offers in ${shown}, and there was nothing to divide by. Offers in ${others.join(", ")} are left out`;
  return "Nothing was counted that it could be divided by";
}

/** The value as it may be drawn: a CTR above 1 says that impressions are missing, not how many people clicked. */
export function drawnValue(name: string, value: Figure | undefined): Figure {
  return value === undefined || isBeyondCounted(name, value) ? null : value;
}

function isBeyondCounted(name: string, value: Figure): boolean {
  return name === "ctr" && (heightOf(value) ?? 0) > 1;
}
