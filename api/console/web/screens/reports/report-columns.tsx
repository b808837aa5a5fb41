import type { ReactElement } from "react";
import { Link } from "wouter";
import { filterFor, withFilters } from "../../address/filters.ts";
import type { ReportAddress } from "../../address/report.ts";
import { rowsBehind } from "../../address/rows-behind.ts";
import type { Metric, ReportFields, ReportRow } from "../../client/reports.ts";
import type { RoleFigures } from "../../figures/role-figures.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { heightOf } from "../../plots/pixels.ts";
import { ShareBar } from "../../plots/share-bar.tsx";
import { SPARKLINE_SIZE, Sparkline } from "../../plots/sparkline.tsx";
import { Against, comparedFigure } from "../against.tsx";
import { figureWords, Why } from "../figure-text.tsx";
import type { OtherMoney } from "../other-money.ts";
import { labelOf } from "../row-label.ts";
import { type Currencies, drawnValue } from "../why-absent.ts";
import { chosenMetrics } from "./chosen-metrics.ts";
import type { RowCourses } from "./row-courses.ts";
import type { useReportMoney } from "./use-report-money.ts";

type ColumnParts = {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly currencies: Currencies;
  readonly moneyOf: ReturnType<typeof useReportMoney>;
  readonly totals: ReportRow;
  readonly rows: readonly ReportRow[];
  /** Address of the screens of the membership. */
  readonly base: string;
  readonly lists: RoleFigures["lists"];
  /** Undefined for reports without courses. */
  readonly courses: RowCourses | undefined;
  readonly onChange: (to: Partial<ReportAddress>) => void;
};

/** A dimension is a filter; a count opens the rows that it counts. */
export function reportColumns(parts: ColumnParts): Column<ReportRow>[] {
  const [first, ...metrics] = metricColumns(parts);
  // A phone shows one column beside the name: a figure says more there than its course.
  const lead = first === undefined ? [] : [first];
  return [...dimensionColumns(parts), ...lead, ...courseColumns(parts), ...metrics];
}

function courseColumns({ courses }: ColumnParts): Column<ReportRow>[] {
  if (courses === undefined) return [];
  const title = `${courses.metric.label} by day`;
  return [
    {
      name: "course",
      title,
      total: "",
      cell: (row) => {
        if (courses.isLoading) return <svg {...SPARKLINE_SIZE} aria-hidden />;
        const course = courses.of(row);
        return course === undefined ? "" : <Sparkline values={course} label={title} />;
      },
    },
  ];
}

function dimensionColumns({ report, fields, onChange }: ColumnParts): Column<ReportRow>[] {
  const known = new Map(fields.dimensions.map((one) => [one.name, one]));
  return report.groupBy.map((name, at) => ({
    name,
    title: known.get(name)?.label ?? name,
    isSortable: true,
    total: at === 0 ? "Total" : "",
    cell: (row) => (
      <button
        type="button"
        className="cell-button"
        title={`Only ${labelOf(row, name)}`}
        onClick={() =>
          onChange({ filters: withFilters(report.filters, [filterFor(name, row[name])]) })
        }
      >
        <StrangerText text={labelOf(row, name)} />
      </button>
    ),
  }));
}

function metricColumns(parts: ColumnParts): Column<ReportRow>[] {
  const { report, fields, totals, rows, moneyOf } = parts;
  const sorted = report.sort.replace(/^-/, "");
  return chosenMetrics(fields, report).map((metric) => {
    const { name, label, definition } = metric;
    const largest = Math.max(0, ...rows.map((row) => heightOf(drawnValue(name, row[name])) ?? 0));
    const cell = (row: ReportRow): ReactElement => {
      const filters = report.groupBy.map((one) => filterFor(one, row[one]));
      const money = moneyOf.ofRow(row);
      const figure = (
        <FigureCell {...parts} metric={metric} row={row} filters={filters} money={money} />
      );
      if (name !== sorted) return figure;
      return (
        <ShareBar value={drawnValue(name, row[name])} largest={largest}>
          {figure}
        </ShareBar>
      );
    };
    return {
      name,
      title: <span title={definition}>{label}</span>,
      isNumber: true,
      isSortable: true,
      cell,
      total: (
        <FigureCell
          {...parts}
          metric={metric}
          row={totals}
          filters={[]}
          money={moneyOf.ofTotals(totals)}
        />
      ),
    };
  });
}

/** A row that names a currency has its money in it, unless the report converts. */
function currencyOf(row: ReportRow, { groupBy, period }: ReportAddress): string | undefined {
  const named = groupBy.includes("currency") && !period.isConverted ? row["currency"] : undefined;
  return typeof named === "string" && named !== "" ? named : undefined;
}

function FigureCell({
  report,
  currencies,
  base,
  lists,
  totals,
  metric,
  row,
  filters,
  money,
}: ColumnParts & {
  readonly metric: Metric;
  readonly row: ReportRow;
  /** Filters that the row stands for. */
  readonly filters: readonly string[];
  readonly money: OtherMoney | undefined;
}): ReactElement {
  const { name } = metric;
  const ofRow = currencyOf(row, report);
  const known = ofRow === undefined ? currencies : { shown: ofRow, others: [] };
  const words = figureWords(metric, row, known, money);
  const behind = rowsBehind({
    lists,
    metric: name,
    period: report.period,
    filters: withFilters(report.filters, filters),
    dateBasis: report.dateBasis,
  });
  const before = words.isOwn
    ? comparedFigure(metric, { row, totals, currency: known.shown })
    : undefined;
  const against = before !== undefined && (
    <span className="against">
      <Against metric={metric} row={row} before={before} />
    </span>
  );
  if (behind.kind === "none" || (heightOf(row[name]) ?? 0) === 0) {
    return (
      <span title={words.title ?? (behind.kind === "none" ? behind.why : undefined)}>
        {words.text}
        <Why words={words} /> {against}
      </span>
    );
  }
  return (
    <>
      <Link className="cell-link" href={base + behind.path} title={words.title}>
        {words.text}
      </Link>{" "}
      {against}
    </>
  );
}
