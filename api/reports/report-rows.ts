import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectPage, streamRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import {
  type CompiledReport,
  compileReport,
  DIMENSION_COLUMN,
  type Managers,
  METRIC_COLUMN,
  type ReportPlan,
} from "./compile-report.ts";
import { type Dimension, dimensionValue } from "./dimensions.ts";
import { type Measure, measureValue } from "./measures.ts";
import type { ReportFilter } from "./report-filters.ts";
import { type ReadPage, StoredRow } from "./shared-pages.ts";

export type ReportStores = {
  readonly db: Queryable;
  readonly clickhouse: ClickhouseReader;
  /** Missing where pages are not shared with other requests. */
  readonly readPage?: ReadPage;
};

/** One row of the answer by position: dimensions and metrics in the order of the plan. */
export type ReportRow = {
  readonly values: readonly (string | number)[];
  readonly metrics: readonly (string | number | null)[];
};

export type ReportPage = {
  readonly rows: readonly ReportRow[];
  readonly totals: readonly (string | number | null)[];
  readonly rowsAll: number;
  readonly otherCurrencies: readonly string[];
};

const NAME = "api.report";

/** Runs one plan. Returns its rows, and totals over all rows regardless of the limit. */
export async function readReportPage(
  { clickhouse, readPage }: ReportStores,
  plan: ReportPlan,
): Promise<ReportPage> {
  const statement = statementOf(plan);
  const page = await (readPage === undefined
    ? selectPage(clickhouse, statement, StoredRow)
    : readPage(statement));
  const rows = page.rows.map((row) => reportRow(plan, row));
  // Without dimensions the only row is also the total.
  const totals = plan.groupBy.length === 0 ? page.rows[0] : page.totals;
  if (totals === undefined) throw new Error("a report came without its totals");
  return {
    rows,
    totals: metricsOf(plan.metrics, totals),
    rowsAll: page.rowsAll,
    otherCurrencies: totals.others,
  };
}

/** Streams the rows of a plan, a few hundred at a time. */
export async function* streamReportRows(
  { clickhouse }: ReportStores,
  plan: ReportPlan,
): AsyncGenerator<readonly ReportRow[]> {
  for await (const rows of streamRows(clickhouse, statementOf(plan), StoredRow)) {
    yield rows.map((row) => reportRow(plan, row));
  }
}

/** The account managers of a workspace's partners; undefined if the report does not use them. */
export async function readManagers(
  { db }: ReportStores,
  workspaceId: number,
  used: { readonly groupBy: readonly Dimension[]; readonly filters: readonly ReportFilter[] },
): Promise<Managers | undefined> {
  const dimensions = [...used.groupBy, ...used.filters.map(({ dimension }) => dimension)];
  if (!dimensions.some(({ name }) => name === "manager")) return undefined;
  const { rows } = await db.query<{ id: number; manager_id: number }>({
    name: "read-report-managers",
    text: `select id, manager_id from affiliate where workspace_id = $1 and manager_id is not null order by id`,
    values: [workspaceId],
  });
  return {
    affiliateIds: rows.map(({ id }) => id),
    managerIds: rows.map(({ manager_id }) => manager_id),
  };
}

function statementOf(plan: ReportPlan): CompiledReport & { name: string } {
  return { name: NAME, ...compileReport(plan) };
}

function reportRow({ groupBy, metrics }: ReportPlan, row: StoredRow): ReportRow {
  return {
    values: groupBy.map(({ kind }, index) =>
      dimensionValue(kind, keyOf(row[`${DIMENSION_COLUMN}${index}`])),
    ),
    metrics: metricsOf(metrics, row),
  };
}

function metricsOf(metrics: readonly Measure[], row: StoredRow): (string | number | null)[] {
  return metrics.map(({ kind }, index) => {
    const stored = row[`${METRIC_COLUMN}${index}`];
    return measureValue(kind, stored === null || stored === undefined ? null : String(stored));
  });
}

function keyOf(stored: StoredRow[string] | undefined): string | number {
  if (typeof stored === "string" || typeof stored === "number") return stored;
  throw new Error("a row of a report came without one of its dimensions");
}
