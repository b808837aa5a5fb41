import type { ReactElement } from "react";
import { useLocation, useSearch } from "wouter";
import type { AddressFault } from "../../address/period.ts";
import {
  type ReportAddress,
  ROWS_PER_PAGE,
  readReport,
  reportAddress,
  reportQuery,
} from "../../address/report.ts";
import type { Query } from "../../client/lists.ts";
import {
  type Metric,
  type ReportFields,
  type ReportRow,
  useReport,
  useReportFields,
} from "../../client/reports.ts";
import { type Figure, formatCount, formatFigure } from "../../format/figure.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { CsvButton } from "../../parts/csv-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { PeriodBar } from "../../range/period-bar.tsx";
import { useMembership } from "../../session/membership.ts";
import { Change } from "../change.tsx";
import { labelOf } from "../row-label.ts";
import { FilterChips } from "./filter-chips.tsx";
import { PickList } from "./pick-list.tsx";

const TABLE_HEIGHT = 480;

/** A table of up to three dimensions. Everything that it shows is in the address. */
export function Reports(): ReactElement {
  const membership = useMembership();
  const search = useSearch();
  const [path, go] = useLocation();
  const { report, faults } = readReport(new URLSearchParams(search));
  const fields = useReportFields(membership);
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
      </div>
      <AddressFaults faults={faults} />
      {fields.isError && (
        <ProblemNotice error={fields.error} onRetry={() => void fields.refetch()} />
      )}
      {fields.data === undefined ? (
        <Skeleton height={TABLE_HEIGHT} />
      ) : (
        <>
          <div className="row wrap">
            <PickList
              label="Group by"
              options={fields.data.dimensions}
              chosen={report.groupBy}
              max={3}
              onChange={(groupBy) => change({ groupBy, sort: "-clicks" })}
            />
            <PickList
              label="Metrics"
              options={fields.data.metrics}
              chosen={chosenMetrics(fields.data, report).map(({ name }) => name)}
              onChange={(metrics) => change({ metrics })}
            />
            <FilterChips
              filters={report.filters}
              dimensions={fields.data.dimensions}
              onChange={(filters) => change({ filters })}
            />
          </div>
          <ReportTable report={report} fields={fields.data} onChange={change} />
        </>
      )}
    </>
  );
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

function ReportTable({
  report,
  fields,
  onChange,
}: {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly onChange: (to: Partial<ReportAddress>) => void;
}): ReactElement {
  const membership = useMembership();
  const query = reportQuery(report);
  const answer = useReport(membership, query);
  if (answer.isError)
    return <ProblemNotice error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton height={TABLE_HEIGHT} />;
  const { data, totals, currency, total_rows: totalRows, other_currencies: others } = answer.data;
  const rows: readonly ReportRow[] = data;
  const parts = { report, fields, currency, totals, onChange };
  const columns = [...dimensionColumns(parts), ...metricColumns(parts)];
  const sorting = {
    name: report.sort.replace(/^-/, ""),
    isDescending: report.sort.startsWith("-"),
  };
  const sort = (name: string): void =>
    onChange({ sort: sorting.name === name && sorting.isDescending ? name : `-${name}` });
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{formatCount(totalRows)} rows</h2>
        <CopyButton label="Copy as curl" text={curlOf(query)} />
        <CsvButton path="/reports" query={withoutPage(query)} />
      </header>
      {others.length > 0 && (
        <p className="notice warn">
          Money in {others.join(", ")} is not in these figures, which are in {currency}.
        </p>
      )}
      {rows.length === 0 ? (
        <Empty report={report} onChange={onChange} />
      ) : (
        <DataTable
          caption="Report"
          columns={columns}
          rows={rows}
          keyOf={(row) => report.groupBy.map((name) => String(row[name])).join("\u0000")}
          sorting={sorting}
          onSort={sort}
          isUpdating={answer.isPlaceholderData}
        />
      )}
      <Pages page={report.page} rows={totalRows} onChange={(page) => onChange({ page })} />
    </section>
  );
}

type ColumnParts = {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly currency: string;
  readonly totals: ReportRow;
  readonly onChange: (to: Partial<ReportAddress>) => void;
};

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
          onChange({ filters: [...report.filters, filterOf(name, row[name] ?? null)] })
        }
      >
        <StrangerText text={labelOf(row, name)} />
      </button>
    ),
  }));
}

function metricColumns({ report, fields, currency, totals }: ColumnParts): Column<ReportRow>[] {
  return chosenMetrics(fields, report).map(({ name, label, kind }) => {
    const cell = (row: ReportRow): ReactElement => (
      <>
        {formatFigure(row[name], kind, currency)}{" "}
        <Change metric={name} change={row.change?.[name]} />
      </>
    );
    return { name, title: label, isNumber: true, isSortable: true, cell, total: cell(totals) };
  });
}

/** Those that the address names, else the default ones that have something to show. */
function chosenMetrics({ metrics }: ReportFields, { metrics: named }: ReportAddress): Metric[] {
  const byName = new Map(metrics.map((one) => [one.name, one]));
  return named.length > 0
    ? named.flatMap((name) => byName.get(name) ?? [])
    : metrics.filter(({ isDefault }) => isDefault);
}

/** Values may contain the signs of the grammar, so they are encoded once more. */
function filterOf(dimension: string, value: Figure): string {
  return `${dimension}:in:${encodeURIComponent(String(value ?? ""))}`;
}

/** A CSV has all rows. */
function withoutPage(query: Query): Query {
  const { limit: _limit, offset: _offset, ...whole } = query;
  return whole;
}

function curlOf(query: Readonly<Record<string, string>>): string {
  const url = `${location.origin}/api/v1/reports?${new URLSearchParams(query).toString()}`;
  return `curl -H "Authorization: Bearer $API_KEY" '${url}'`;
}

function Empty({
  report,
  onChange,
}: {
  readonly report: ReportAddress;
  readonly onChange: (to: Partial<ReportAddress>) => void;
}): ReactElement {
  return (
    <div className="stack tight">
      <strong>
        {report.filters.length > 0 ? "Nothing for these filters" : "Nothing in this range"}
      </strong>
      <div className="row">
        {report.filters.length > 0 ? (
          <button
            type="button"
            className="button"
            onClick={() => onChange({ filters: report.filters.slice(0, -1) })}
          >
            Remove the last filter
          </button>
        ) : (
          <button
            type="button"
            className="button"
            onClick={() => onChange({ period: { ...report.period, range: { preset: "last90" } } })}
          >
            Show the last 90 days
          </button>
        )}
      </div>
    </div>
  );
}

function Pages({
  page,
  rows,
  onChange,
}: {
  readonly page: number;
  readonly rows: number;
  readonly onChange: (page: number) => void;
}): ReactElement | null {
  const last = Math.max(1, Math.ceil(rows / ROWS_PER_PAGE));
  if (last === 1) return null;
  return (
    <nav className="row end" aria-label="Pages">
      <button
        type="button"
        className="button"
        disabled={page <= 1}
        onClick={() => onChange(page - 1)}
      >
        Previous
      </button>
      <span>
        {page} of {formatCount(last)}
      </span>
      <button
        type="button"
        className="button"
        disabled={page >= last}
        onClick={() => onChange(page + 1)}
      >
        Next
      </button>
    </nav>
  );
}
