import type { ReactElement } from "react";
import type { Metric, ReportRow } from "../client/reports.ts";
import { formatFigure } from "../format/figure.ts";
import { Change } from "./change.tsx";
import { hasCompared } from "./has-compared.ts";
import { drawnValue } from "./why-absent.ts";

/** The figure of the compared range as text; undefined where it says nothing. `totals` are those of the report that has the row. */
export function comparedFigure(
  { name, kind }: Metric,
  { row, totals, currency }: Compared,
): string | undefined {
  const before = drawnValue(name, row.previous?.[name]);
  return before === null || !hasCompared(totals) ? undefined : formatFigure(before, kind, currency);
}

type Compared = {
  readonly row: ReportRow;
  readonly totals: ReportRow;
  readonly currency: string;
};

/** The change of a figure, and from what. */
export function Against({
  metric,
  ...compared
}: Compared & { readonly metric: Metric }): ReactElement | null {
  const before = comparedFigure(metric, compared);
  if (before === undefined) return null;
  return (
    <>
      <Change metric={metric.name} change={compared.row.change?.[metric.name]} />{" "}
      <span className="muted">from {before}</span>
    </>
  );
}
