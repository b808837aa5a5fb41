import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { withFilters } from "../../address/filters.ts";
import { type AddressFault, rangeParams } from "../../address/period.ts";
import { type ReportAddress, readReport, reportAddress } from "../../address/report.ts";
import { useSearch } from "../../address/use-search.ts";
import type { ReportFields } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { ownComparison } from "../../range/own-comparison.ts";
import { PeriodBar } from "../../range/period-bar.tsx";
import { ViewMenu } from "../../views/view-menu.tsx";
import type { Narrowing } from "../charts/chart-parts.ts";
import { chosenMetrics, withMetrics } from "./chosen-metrics.ts";
import { FilterChips } from "./filter-chips.tsx";
import { PickList } from "./pick-list.tsx";
import { ReportChart } from "./report-chart.tsx";
import { ReportColumnMenu } from "./report-column-menu.tsx";
import { ReportTable } from "./report-table.tsx";

const TABLE_HEIGHT = 480;
const DEFAULT_SORT = "-clicks";

/** A table of up to three dimensions, with a chart above. Everything that it shows is in the address. */
export function Reports(): ReactElement {
  const membership = useMembership();
  const search = useSearch();
  const [path, go] = useLocation();
  const { report, faults } = readReport(new URLSearchParams(search), ownComparison());
  const fields = useNamedFields();
  const { reported } = useRoleFigures();
  const change = (to: Partial<ReportAddress>): void =>
    go(`${path}?${reportAddress({ ...report, page: 1, ...to }).toString()}`);
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Reports</h1>
        <PeriodBar
          period={report.period}
          zone={membership.zone}
          onChange={(period) => change({ period })}
        />
        <ViewMenu />
      </div>
      <AddressFaults faults={faults} />
      <Awaited asked={fields} height={TABLE_HEIGHT}>
        {(known) => (
          <Content
            report={withMetrics(report, known, reported)}
            fields={known}
            isChosen={report.metrics.length > 0}
            onChange={change}
          />
        )}
      </Awaited>
    </>
  );
}

type ContentProps = {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  /** Whether the address names metrics. */
  readonly isChosen: boolean;
  readonly onChange: (to: Partial<ReportAddress>) => void;
};

function Content(props: ContentProps): ReactElement {
  const { report, fields, onChange } = props;
  const narrow = ({ filters = [], days }: Narrowing): void =>
    onChange({
      filters: withFilters(report.filters, filters),
      ...(days === undefined ? {} : { period: { ...report.period, range: days } }),
    });
  return (
    <>
      <Choices {...props} />
      <ReportChart report={report} fields={fields} onChange={onChange} onNarrow={narrow} />
      <ReportTable report={report} fields={fields} onChange={onChange} />
    </>
  );
}

function Choices(props: ContentProps): ReactElement {
  const { report, fields, onChange } = props;
  const { dateBasis } = report;
  return (
    <div className="row wrap">
      <PickList
        label="Group by"
        options={fields.dimensions}
        chosen={report.groupBy}
        max={3}
        onChange={(groupBy) => onChange({ groupBy, sort: sortFor(report, groupBy) })}
      />
      <PickList
        label="Metrics"
        options={fields.metrics}
        chosen={chosenMetrics(fields, report).map(({ name }) => name)}
        onChange={(metrics) => onChange({ metrics })}
      />
      <ReportColumnMenu {...props} />
      <select
        className="select"
        aria-label="Conversions are dated by"
        value={dateBasis}
        onChange={(event) =>
          onChange({ dateBasis: event.currentTarget.value === "click" ? "click" : "conversion" })
        }
      >
        <option value="conversion">By time of the conversion</option>
        <option value="click">By time of the click</option>
      </select>
      <FilterChips
        filters={report.filters}
        dimensions={fields.dimensions}
        range={rangeParams(report.period)}
        onChange={(filters) => onChange({ filters })}
      />
    </div>
  );
}

/** A table cannot be sorted by a dimension that it no longer has. */
function sortFor({ sort, groupBy }: ReportAddress, next: readonly string[]): string {
  const name = sort.replace(/^-/, "");
  return groupBy.includes(name) && !next.includes(name) ? DEFAULT_SORT : sort;
}

function AddressFaults({
  faults,
}: {
  readonly faults: readonly AddressFault[];
}): ReactElement | null {
  if (faults.length === 0) return null;
  return (
    <div className="notice warn" role="status">
      {faults.map(({ parameter, message }) => (
        <span key={parameter}>
          <code>{parameter}</code> in the address was left out: {message}.
        </span>
      ))}
    </div>
  );
}
