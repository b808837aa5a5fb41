import type { ReactElement } from "react";
import { CHARTS, type ChartName, type ReportAddress } from "../../address/report.ts";
import type { ReportFields } from "../../client/reports.ts";
import type { ChartParts, Narrowing } from "../charts/chart-parts.ts";
import { CountryMap } from "../charts/country-map.tsx";
import { Course } from "../charts/course.tsx";
import { Delays } from "../charts/delays.tsx";
import { TopBars } from "../charts/top-bars.tsx";
import { WeekHours } from "../charts/week-hours.tsx";
import { chartedMetric } from "./chosen-metrics.ts";

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
  const parts: ChartParts = { period, filters, metric, onNarrow };
  switch (report.chart) {
    case "series":
      return <Course {...parts} />;
    case "bars": {
      const [first] = report.groupBy;
      const dimension = fields.dimensions.find(({ name }) => name === first);
      return dimension === undefined ? (
        <p className="notice">Group by something to see its largest values.</p>
      ) : (
        <TopBars {...parts} dimension={dimension} />
      );
    }
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
