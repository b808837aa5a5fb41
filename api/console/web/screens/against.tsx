import type { ReactElement } from "react";
import type { Metric, ReportRow } from "../client/reports.ts";
import { formatFigure } from "../format/figure.ts";
import { Change } from "./change.tsx";
import { hasCompared } from "./has-compared.ts";
import { drawnValue } from "./why-absent.ts";

/** The figure of the compared range as text; undefined where it says nothing. `totals` are those of the report that has the row. */
export function comparedFigure(
  { name, kind }: Metric,
  {
    row,
    totals,
    currency,
  }: { readonly row: ReportRow; readonly totals: ReportRow; readonly currency: string },
): string | undefined {
  const before = drawnValue(name, row.previous?.[name]);
  return before === null || !hasCompared(totals) ? undefined : formatFigure(before, kind, currency);
}

/** The change of a figure, and from what. */
export function Against({
  metric: { name },
  row,
  before,
}: {
  readonly metric: Metric;
  readonly row: ReportRow;
  /** What {@link comparedFigure} says. */
  readonly before: string;
}): ReactElement {
  return (
    <>
      <Change metric={name} change={row.change?.[name]} />{" "}
      <span className="muted">from {before}</span>
    </>
  );
}
