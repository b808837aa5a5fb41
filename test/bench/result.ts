import type { Figures } from "./figures/bench-run.ts";

/** One line of the table of `npm run bench`: a figure beside its baseline of the same run. */
export type BenchResult = {
  readonly name: string;
  readonly figure: string;
  readonly baseline: string;
  /** figure / baseline; null if there is no baseline or nothing could be measured. */
  readonly ratio: number | null;
  readonly budget: string;
  /** Whether the budget is met; null if nothing could be measured, and then `figure` gives the reason. */
  readonly ok: boolean | null;
  /** Added to figures/runs.jsonl, from which the tables of capacity are made. */
  readonly figures?: Figures;
};

const COLUMNS = ["what", "figure", "baseline", "ratio", "budget", ""] as const;

/** The table as text of at most 120 columns. */
export function renderResults(results: readonly BenchResult[]): string {
  const rows = results.map((result) => [
    result.name,
    result.figure,
    result.baseline,
    result.ratio === null ? "-" : result.ratio.toFixed(2),
    result.budget,
    result.ok === null ? "not measured" : result.ok ? "ok" : "SHORT",
  ]);
  const widths = COLUMNS.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [COLUMNS, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The value that `share` (0 to 1) of the values are below. Sorts the values in place. */
export function quantile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}
