import type { Period } from "../../address/period.ts";
import type { Metric } from "../../client/reports.ts";

/** What all charts of a report share. */
export type ChartParts = {
  readonly period: Period;
  /** In the grammar of the API. */
  readonly filters: readonly string[];
  readonly metric: Metric;
  /** Shows what one mark stands for: the same address plus its filters, or its days. */
  readonly onNarrow: (to: Narrowing) => void;
};

export type Narrowing = {
  readonly filters?: readonly string[];
  readonly days?: { readonly from: string; readonly to: string };
};

/** Parameters of the filters, if there are any. */
export function filterParams(filters: readonly string[]): Record<string, string> {
  return filters.length === 0 ? {} : { filters: filters.join(",") };
}
