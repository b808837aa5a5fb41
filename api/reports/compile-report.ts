import { onEachShard } from "../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseCluster } from "../../schemas/clickhouse/connect.ts";
import { parseDay } from "../../schemas/time/calendar.ts";
import { indent } from "./indent.ts";
import { changes, previousOf, valuesOf } from "./measures.ts";
import { type Period, PeriodSources } from "./period-sources.ts";
import { type DayRates, DIMENSION_COLUMN, type ReportPlan } from "./report-plan.ts";
import type { ReportSort } from "./report-request.ts";
import { SqlParams } from "./sql-params.ts";
import { IS_PREVIOUS, moneyKeys, OuterSums, packedRate, RATE, usedSums } from "./sum-columns.ts";

/** One ClickHouse statement. Values of the request are typed parameters, never part of the text. */
export type CompiledReport = {
  readonly text: string;
  readonly params: Readonly<Record<string, unknown>>;
};

const SETTINGS = [
  "do_not_merge_across_partitions_select_final = 1",
  // Read all pieces from one snapshot. A row that is stored in the meantime is then in all of them or in none, so a moved row is
  // subtracted only where it was counted.
  "enable_shared_storage_snapshot_in_query = 1",
];

/** The statement for the shards has its values as text. */
const CLUSTER_SETTINGS = ["max_query_size = 16777216"];
/** Choosing among projections takes the server longer than reading few rows. */
const BY_ROWS = "optimize_use_projections = 0";

/**
 * Compiles a plan to one statement. Without dimensions it returns one row, otherwise also totals over all of its rows. It adds up in an inner
 * select and computes in outer ones: every expression there has names of columns instead of the text of whole sums, which a server
 * would otherwise need seconds to read.
 */
export function compileReport(
  plan: ReportPlan,
  cluster: ClickhouseCluster | undefined,
): CompiledReport {
  const { groupBy, metrics, sort, limit, offset, comparison } = plan;
  const params = new SqlParams();
  const sums = new OuterSums(plan, params);
  const keys = groupBy.map((_, index) => `${DIMENSION_COLUMN}${index}`);
  const values = valuesOf(metrics);
  const added = select(
    [...keys, ...sums.added()],
    rowsOf(plan, keys, { params, cluster }),
    keys.length === 0 ? "" : `group by ${keys.join(", ")} with totals`,
  );
  const converted = sums.converted();
  const text = [
    select(
      [
        ...keys,
        ...(comparison === undefined ? [`${asTexts(values)} as metrics`] : compared(values)),
        "others",
      ],
      converted.length === 0 ? added : select([...keys, ...converted], added),
    ),
    ...(keys.length === 0 ? [] : [orderBy(sort, keys)]),
    `limit ${params.of("UInt64", limit)} offset ${params.of("UInt64", offset)}`,
    `settings ${settingsOf(plan, cluster).join(", ")}`,
  ].join("\n");
  return { text, params: params.values };
}

function settingsOf(
  { hasFewRows }: ReportPlan,
  cluster: ClickhouseCluster | undefined,
): readonly string[] {
  return [
    ...SETTINGS,
    ...(cluster === undefined ? [] : CLUSTER_SETTINGS),
    ...(hasFewRows === true ? [BY_ROWS] : []),
  ];
}

function select(columns: readonly string[], from: string, end = ""): string {
  return [
    `select\n${indent(columns.join(",\n"))}`,
    `from (\n${indent(from)}\n)`,
    ...(end === "" ? [] : [end]),
  ].join("\n");
}

/** The rows of the period and of the period it is compared with. */
function rowsOf(plan: ReportPlan, keys: readonly string[], { params, cluster }: Target): string {
  const { range, comparison, moneyRates } = plan;
  const periods: readonly Period[] = [
    { range, daysLater: 0 },
    ...(comparison === undefined ? [] : [{ range: comparison.range, daysLater: comparison.days }]),
  ];
  const sources = periods.map((period) => new PeriodSources(plan, period, { params, cluster }));
  const columns = [
    ...keys,
    ...moneyKeys(plan),
    ...usedSums(plan).ofSources.map((name) => `s_${name}`),
  ];
  const isCompared = comparison !== undefined;
  const rows =
    cluster === undefined
      ? ofPeriods(
          sources.map((source) => [...source.spread(), ...source.copied()]),
          columns,
          isCompared,
        )
      : rowsOfCluster(sources, { columns, isCompared }, cluster);
  if (moneyRates === undefined) return rows;
  const all = isCompared ? [...columns, IS_PREVIOUS] : columns;
  return rated(all, rows, rates(plan, moneyRates, params));
}

type Target = { readonly params: SqlParams; readonly cluster: ClickhouseCluster | undefined };

/**
 * All that is spread over the shards is one select, which each shard runs as a whole: it reads all of its pieces from one snapshot. What
 * every node has is read where the statement runs.
 */
function rowsOfCluster(
  sources: readonly PeriodSources[],
  { columns, isCompared }: { readonly columns: readonly string[]; readonly isCompared: boolean },
  cluster: ClickhouseCluster,
): string {
  const spread = ofPeriods(
    sources.map((source) => source.spread()),
    columns,
    isCompared,
  );
  const copied = ofPeriods(
    sources.map((source) => source.copied()),
    columns,
    isCompared,
  );
  const all = isCompared ? [...columns, IS_PREVIOUS] : columns;
  if (spread === "") return copied;
  const fromShards = `select ${all.join(", ")} from ${onEachShard(cluster, spread)}`;
  return [fromShards, copied].join("\nunion all\n");
}

/** The selects of each period as one. With a comparison, a column tells the periods. */
function ofPeriods(
  periods: readonly (readonly string[])[],
  columns: readonly string[],
  isCompared: boolean,
): string {
  if (periods.every((selects) => selects.length === 0)) return "";
  const texts = periods.map((selects) => selects.join("\nunion all\n"));
  if (!isCompared) return texts.join("\nunion all\n");
  return texts
    .map(
      (text, index) =>
        `select ${columns.join(", ")}, ${index} as ${IS_PREVIOUS} from (\n${indent(text)}\n)`,
    )
    .join("\nunion all\n");
}

/** Rows with the rate of their money; 0 without a usable one. */
function rated(columns: readonly string[], rows: string, lines: string): string {
  return [
    `select ${columns.join(", ")}, ${RATE}`,
    `from (\n${indent(rows)}\n) as counted`,
    `any left join (\n${indent(lines)}\n) as rates on cur = rated_currency and day = rated_day`,
  ].join("\n");
}

/** The rates of a statement. The money of the report's own currency has no day and the rate 1. */
function rates({ currency }: ReportPlan, given: DayRates, params: SqlParams): string {
  const { currencies, dates, numerators, denominators } = given;
  const days = dates.map((date) => String(parseDay(date) ?? 0));
  const packed = numerators.map((numerator, index) =>
    packedRate(index + 2, numerator, denominators[index] ?? "1"),
  );
  const lists = [
    [currency, ...currencies],
    ["0", ...days],
    [packedRate(1, "1", "1"), ...packed],
  ].map((list) => params.of("Array(String)", list));
  return [
    `select line.1 as rated_currency, toInt64(line.2) as rated_day, toUInt256(line.3) as ${RATE}`,
    `from (select arrayJoin(arrayZip(${lists.join(", ")})) as line)`,
  ].join("\n");
}

/** The metrics, also of the other period, and how far they changed. */
function compared(values: string): string[] {
  return [
    `${asTexts(`${values} as values_now`)} as metrics`,
    `${asTexts(`${previousOf(values)} as values_before`)} as previous`,
    `${asTexts(changes("values_now", "values_before"))} as change`,
  ];
}

/** A list of whole numbers of any size as text. */
function asTexts(values: string): string {
  return `arrayMap(value -> toString(value), ${values})`;
}

/** Ties are broken by the values of the dimensions. Rows without a value come last (G68). */
function orderBy(sort: ReportSort, keys: readonly string[]): string {
  const direction = sort.descending ? "desc" : "asc";
  const first =
    sort.by === "metric"
      ? `${sort.sql} ${direction} nulls last`
      : `${keys[sort.index] ?? ""} ${direction}`;
  return `order by ${[first, ...keys].join(", ")}`;
}
