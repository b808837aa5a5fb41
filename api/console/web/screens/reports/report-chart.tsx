import type { ReactElement } from "react";
import { CHARTS, type ChartName, type ReportAddress } from "../../address/report.ts";
import type { ReportFields } from "../../client/reports.ts";
import type { ChartParts, Narrowing } from "../charts/chart-parts.ts";
import { CountryMap } from "../charts/country-map.tsx";
import { Course } from "../charts/course.tsx";
import { Delays } from "../charts/delays.tsx";
import { SplitCourse } from "../charts/split-course.tsx";
import { TopBars } from "../charts/top-bars.tsx";
import { WeekHours } from "../charts/week-hours.tsx";
import { chartedMetric } from "./chosen-metrics.ts";
import { TIMES } from "./row-courses.ts";

const NAMES: Readonly<Record<ChartName, string>> = {
  series: "Over time",
  bars: "Top rows",
  map: "Map",
  week: "Heatmap",
  delay: "Time to convert",
  none: "No chart",
};

/** One chart of the report, with its range and filters. */
export function ReportChart({
  report,
  fields,
  onChange,
  onNarrow,
}: {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly onChange: (to: Partial<ReportAddress>) => void;
  readonly onNarrow: (to: Narrowing) => void;
}): ReactElement {
  return (
    <>
      <div className="segments" role="group" aria-label="Chart">
        {CHARTS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={report.chart === name}
            onClick={() => onChange({ chart: name })}
          >
            {NAMES[name]}
          </button>
        ))}
      </div>
      <Chart report={report} fields={fields} onNarrow={onNarrow} />
    </>
  );
}

function Chart({
  report,
  fields,
  onNarrow,
}: {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly onNarrow: (to: Narrowing) => void;
}): ReactElement | null {
  const metric = chartedMetric(fields, report);
  if (metric === undefined) return null;
  const { period, filters } = report;
  const [first] = report.groupBy;
  const dimension = fields.dimensions.find(({ name }) => name === first);
  const parts: ChartParts = { period, filters, metric, onNarrow };
  switch (report.chart) {
    case "series":
      return dimension === undefined || TIMES.has(dimension.name) ? (
        <Course {...parts} />
      ) : (
        <SplitCourse {...parts} dimension={dimension} dateBasis={report.dateBasis} />
      );
    case "bars":
      return dimension === undefined ? (
        <p className="notice">Group by something to see its largest values.</p>
      ) : (
        <TopBars {...parts} dimension={dimension} />
      );
    case "map":
      return <CountryMap {...parts} />;
    case "week":
      return <WeekHours {...parts} />;
    case "delay":
      return <Delays period={period} filters={filters} />;
    case "none":
      return null;
  }
}
