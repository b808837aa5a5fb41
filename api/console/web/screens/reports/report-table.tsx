import type { ReactElement } from "react";
import {
  type ReportAddress,
  ROWS_PER_PAGE,
  reportAddress,
  reportQuery,
} from "../../address/report.ts";
import type { Query } from "../../client/lists.ts";
import { type ReportFields, useReport } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { rangesWords } from "../charts/range-words.ts";
import { MoneyNote } from "../money-note.tsx";
import { chartedMetric } from "./chosen-metrics.ts";
import { ExportButton } from "./export-button.tsx";
import { reportColumns } from "./report-columns.tsx";
import { type ShownAnswer, useRowCourses } from "./row-courses.ts";
import { useReportMoney } from "./use-report-money.ts";

const TABLE_HEIGHT = 480;

type TableProps = {
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  readonly onChange: (to: Partial<ReportAddress>) => void;
};

/** The rows of a report, its totals, and ways to take them along. */
export function ReportTable(props: TableProps): ReactElement {
  const membership = useMembership();
  const answer = useReport(membership, reportQuery(props.report));
  return (
    <Awaited asked={answer} height={TABLE_HEIGHT}>
      {(read) => <Answered {...props} answer={read} isUpdating={answer.isPlaceholderData} />}
    </Awaited>
  );
}

function Answered({
  report,
  fields,
  onChange,
  answer,
  isUpdating,
}: TableProps & ShownAnswer): ReactElement {
  const { base } = useMembership();
  const { lists } = useRoleFigures();
  const { data: rows, totals, currency, total_rows: totalRows, other_currencies: others } = answer;
  const courses = useRowCourses(report, { answer, isUpdating }, chartedMetric(fields, report));
  const moneyOf = useReportMoney(report, fields, others);
  const columns = reportColumns({
    report,
    fields,
    currencies: { shown: currency, others },
    moneyOf,
    totals,
    rows,
    base,
    lists,
    courses,
    onChange,
  });
  const sorting = {
    name: report.sort.replace(/^-/, ""),
    isDescending: report.sort.startsWith("-"),
  };
  const sort = (name: string): void =>
    onChange({ sort: sorting.name === name && sorting.isDescending ? name : `-${name}` });
  return (
    <section className="panel stack">
      <header className="row wrap">
        <div className="grow">
          <h2>
            {formatCount(totalRows)} {totalRows === 1 ? "row" : "rows"}
          </h2>
          <p className="muted">{rangesWords(answer)}</p>
        </div>
        <CopyButton label="Copy link" isNamed text={linkOf(report)} />
        <CopyButton label="Copy as curl" isNamed text={curlOf(reportQuery(report))} />
        <ExportButton
          query={withoutPage(reportQuery(report))}
          rows={totalRows}
          range={answer.range}
        />
      </header>
      <MoneyNote
        answer={answer}
        period={report.period}
        onChange={(period) => onChange({ period })}
      />
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
          isUpdating={isUpdating}
        />
      )}
      <Pages page={report.page} rows={totalRows} onChange={(page) => onChange({ page })} />
    </section>
  );
}

/** Names what the own address may leave out, so that it shows the same to everyone. */
function linkOf(report: ReportAddress): string {
  return `${location.origin}${location.pathname}?${reportAddress(report).toString()}`;
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
