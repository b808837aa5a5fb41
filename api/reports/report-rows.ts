import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectPage, streamRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { type ReadPage, StoredRow } from "../operation/read-page.ts";
import { type CompiledReport, compileReport } from "./compile-report.ts";
import { type Dimension, dimensionValue } from "./dimensions.ts";
import {
  changeValue,
  isPerUnit,
  type Measure,
  measureValue,
  type StoredMetric,
} from "./measures.ts";
import type { ReportFilter } from "./report-filters.ts";
import {
  DIMENSION_COLUMN,
  type HomeOffers,
  type Managers,
  type ReportPlan,
} from "./report-plan.ts";

export type ReportStores = {
  readonly db: Queryable;
  readonly clickhouse: ClickhouseReader;
  /** Missing where pages are not shared with other requests. */
  readonly readPage?: ReadPage;
};

type Values = readonly (string | number | null)[];

/** Metrics in the order of the plan. */
export type ReportCells = {
  readonly metrics: Values;
  /** Undefined without a comparison. */
  readonly compared:
    | { readonly previous: Values; readonly change: readonly (number | null)[] }
    | undefined;
};

/** One row of the answer by position: dimensions in the order of the plan. */
export type ReportRow = ReportCells & { readonly values: readonly (string | number)[] };

export type ReportPage = {
  readonly rows: readonly ReportRow[];
  readonly totals: ReportCells;
  readonly rowsAll: number;
  readonly otherCurrencies: readonly string[];
};

const NAME = "api.report";

/** Runs one plan. Returns its rows, and totals over all rows regardless of the limit. */
export async function readReportPage(
  { clickhouse, readPage }: ReportStores,
  plan: ReportPlan,
): Promise<ReportPage> {
  const statement = statementOf(plan, clickhouse);
  const page = await (readPage === undefined
    ? selectPage(clickhouse, statement, StoredRow)
    : readPage(statement));
  const rows = page.rows.map((row) => reportRow(plan, row));
  // Without dimensions the only row is also the total.
  const totals = plan.groupBy.length === 0 ? page.rows[0] : page.totals;
  if (totals === undefined) throw new Error("a report came without its totals");
  return {
    rows,
    totals: cellsOf(plan, totals),
    // ClickHouse counts the rows that shards send, unless it has sorted them.
    rowsAll: plan.groupBy.length === 0 ? page.rows.length : page.rowsAll,
    otherCurrencies: totals.others,
  };
}

/** Streams the rows of a plan, a few hundred at a time. */
export async function* streamReportRows(
  { clickhouse }: ReportStores,
  plan: ReportPlan,
): AsyncGenerator<readonly ReportRow[]> {
  for await (const rows of streamRows(clickhouse, statementOf(plan, clickhouse), StoredRow)) {
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

/** Which offers have the currency of the report; undefined if all have, or if no metric needs to know. */
export async function readHomeOffers(
  { db }: ReportStores,
  workspaceId: number,
  {
    metrics,
    sort,
    currency,
    converts,
  }: Pick<ReportPlan, "metrics" | "sort" | "currency"> & { readonly converts: boolean },
): Promise<HomeOffers | undefined> {
  const used = [...metrics.map(({ sql }) => sql), ...(sort.by === "metric" ? [sort.sql] : [])];
  if (converts || !used.some(isPerUnit)) return undefined;
  const { rows } = await db.query<{ is_home: boolean; ids: number[] }>({
    name: "read-report-home-offers",
    text: `select currency = $2 as is_home, array_agg(id order by id) as ids from offer where workspace_id = $1 group by 1`,
    values: [workspaceId, currency],
  });
  const idsOf = (isHome: boolean): number[] =>
    rows.find(({ is_home }) => is_home === isHome)?.ids ?? [];
  const [home, others] = [idsOf(true), idsOf(false)];
  if (others.length === 0) return undefined;
  return home.length < others.length
    ? { ids: home, areHome: true }
    : { ids: others, areHome: false };
}

function statementOf(
  plan: ReportPlan,
  { cluster }: ClickhouseReader,
): CompiledReport & { name: string } {
  return { name: NAME, ...compileReport(plan, cluster) };
}

function reportRow(plan: ReportPlan, row: StoredRow): ReportRow {
  return {
    values: plan.groupBy.map(({ kind }, index) =>
      dimensionValue(kind, keyOf(row[`${DIMENSION_COLUMN}${index}`])),
    ),
    ...cellsOf(plan, row),
  };
}

function cellsOf({ metrics, comparison }: ReportPlan, row: StoredRow): ReportCells {
  return {
    metrics: metricsOf(metrics, row.metrics),
    compared:
      comparison === undefined
        ? undefined
        : {
            previous: metricsOf(metrics, row.previous ?? []),
            change: metrics.map((_, index) => changeValue(row.change?.[index] ?? null)),
          },
  };
}

function metricsOf(metrics: readonly Measure[], stored: readonly StoredMetric[]): Values {
  return metrics.map(({ kind }, index) => measureValue(kind, stored[index] ?? null));
}

function keyOf(stored: StoredRow[string] | undefined): string | number {
  if (typeof stored === "string" || typeof stored === "number") return stored;
  throw new Error("a row of a report came without one of its dimensions");
}
