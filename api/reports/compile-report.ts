import { type OffsetSegment, SECOND_MS } from "../../schemas/time/zone.ts";
import type { CostRates } from "./cost-rates.ts";
import { costRows, keepsCosts } from "./cost-rows.ts";
import {
  type Dimension,
  type DimensionKind,
  isTime,
  type Source,
  type TimeKind,
} from "./dimensions.ts";
import { indent } from "./indent.ts";
import type { Measure, Sum } from "./measures.ts";
import { moved, netted } from "./moved-rows.ts";
import { emptyPasses, type ReportFilter } from "./report-filters.ts";
import type { ReportRequest, ReportSort } from "./report-request.ts";
import type { ReportScope } from "./report-scope.ts";
import { type Dating, type Piece, piecesOf, type Span } from "./rollups.ts";
import { SqlParams } from "./sql-params.ts";
import { otherCurrencies, outerSums, sourceSums } from "./sum-columns.ts";
import { timeSql } from "./time-sql.ts";

/** One ClickHouse statement. Values of the request are typed parameters, never part of the text. */
export type CompiledReport = {
  readonly text: string;
  readonly params: Readonly<Record<string, unknown>>;
};

/** The account manager of each partner. Only Postgres has it, not ClickHouse. */
export type Managers = {
  readonly affiliateIds: readonly number[];
  readonly managerIds: readonly number[];
};

export type ReportPlan = Pick<
  ReportRequest,
  "range" | "groupBy" | "metrics" | "sort" | "filters" | "currency" | "dateBasis"
> & {
  readonly scope: ReportScope;
  /** Required when `manager` is grouped or filtered by. */
  readonly managers: Managers | undefined;
  /** Exchange rates for the ad costs in range. Undefined if there are none, or none for this caller: then the statement reads no costs. */
  readonly costRates: CostRates | undefined;
  /** Number of rows to answer, and to skip before them. */
  readonly limit: number;
  readonly offset: number;
};

/** Columns of an answer: `d0`… are the dimensions, `m0`… the metrics, `others` the other currencies with money. */
export const DIMENSION_COLUMN = "d";
export const METRIC_COLUMN = "m";

const SETTINGS = [
  "do_not_merge_across_partitions_select_final = 1",
  // Read all pieces from one snapshot. A row that is stored in the meantime is then in all of them or in none, so a moved row is
  // subtracted only where it was counted.
  "enable_shared_storage_snapshot_in_query = 1",
];

/** The column with the account's id. A partner or an advertiser sees only its own rows. */
const OWNER_COLUMN = { partner: "affiliate_id", advertiser: "advertiser_id" } as const;
/** Compiles a plan to one statement. Without dimensions it returns one row, otherwise also totals over all of its rows. */
export function compileReport(plan: ReportPlan): CompiledReport {
  const compiler = new Compiler(plan);
  return { text: compiler.report(), params: compiler.params };
}

/** How rows of a source are read: row by row or from a rollup, and by which clock they are dated. */
type Reading = {
  readonly source: Source;
  readonly grainMs: number | undefined;
  readonly dated: Dating;
};
type SourceParts = {
  readonly from: string;
  readonly where: readonly string[];
  readonly currency: string;
  readonly sums: Partial<Record<Sum, string>>;
};

/** Compiles one plan. `params` is complete after the text was built. */
class Compiler {
  readonly #params = new SqlParams();
  readonly #plan: ReportPlan;
  readonly #segments: readonly OffsetSegment[];
  readonly #rowByRow: Piece;

  constructor(plan: ReportPlan) {
    this.#plan = plan;
    this.#rowByRow = { grainMs: undefined, spans: [plan.range], dated: "zone" };
    this.#segments = plan.range.zone.segments(plan.range.fromMs, plan.range.toMs);
  }

  get params(): Readonly<Record<string, unknown>> {
    return this.#params.values;
  }

  report(): string {
    const { groupBy, metrics, sort, limit, offset, scope } = this.#plan;
    const currency = this.#param("String", this.#plan.currency);
    const keys = groupBy.map((_, index) => `${DIMENSION_COLUMN}${index}`);
    const sources = [
      ...this.#clicks(),
      ...this.#impressions(),
      this.#conversions(),
      ...this.#costs(),
    ];
    return [
      `with\n${indent(outerSums(scope.role, currency).join(",\n"))}`,
      `select\n${indent([...keys, ...metrics.map(metricColumn), otherCurrencies(scope.role, currency)].join(",\n"))}`,
      `from (\n${indent(sources.join("\nunion all\n"))}\n)`,
      ...(keys.length === 0
        ? []
        : [`group by ${keys.join(", ")} with totals`, orderBy(sort, keys)]),
      `limit ${this.#param("UInt64", limit)} offset ${this.#param("UInt64", offset)}`,
      `settings ${SETTINGS.join(", ")}`,
    ].join("\n");
  }

  #clicks(): string[] {
    return this.#withRollups("click", "clicks", {
      from: "click",
      where: ["status != 'blocked'"],
      currency: "currency",
      sums: {
        clicks: "count()",
        unique_clicks: "countIf(is_unique)",
        bot_clicks: "countIf(is_bot)",
        payout: "sum(click_payout) * 10000",
        revenue: "sum(click_revenue) * 10000",
      },
    });
  }

  #impressions(): string[] {
    return this.#withRollups("impression", "impressions", {
      from: "impression",
      where: [],
      currency: "''",
      sums: { impressions: "count()" },
    });
  }

  /** A source that has rollups. `count` is the sum that counts its rows. */
  #withRollups(source: "click" | "impression", count: Sum, parts: SourceParts): string[] {
    const always = source === "click" ? ["status", "currency"] : [];
    const pieces = this.#pieces(source, always);
    const texts = pieces.map((piece) => this.#source(source, piece, parts));
    if (!pieces.some(({ dated }) => dated === "moved")) return texts;
    const keys = this.#plan.groupBy.map((_, index) => `${DIMENSION_COLUMN}${index}`);
    return [netted(texts, keys, count)];
  }

  /** How the rows of a source are read. Uses a rollup where it has every column that the report needs. */
  #pieces(source: Source, always: readonly string[]): Piece[] {
    const { range, groupBy, filters, scope } = this.#plan;
    const dimensions = [
      ...groupBy,
      ...filters
        .map(({ dimension }) => dimension)
        .filter(({ only }) => only === undefined || only === source),
    ];
    const known = dimensions.flatMap(({ kind, columns }) =>
      isTime(kind) || columns[source] === "" ? [] : [columns[source]],
    );
    return piecesOf(source, range, {
      columns: [
        ...always,
        ...known.map((column) => (column === "manager" ? "affiliate_id" : column)),
        ...(scope.role === "staff" ? [] : [OWNER_COLUMN[scope.role]]),
      ],
      times: dimensions.flatMap(({ kind }) => (isTime(kind) ? [kind] : [])),
      segments: this.#segments,
      mayMove: !filters.some(({ dimension }) => isTime(dimension.kind)),
    });
  }

  #conversions(): string {
    return this.#source("conversion", this.#rowByRow, {
      // `final`: only the newest version of each counts, even before the server has merged older ones away.
      from: "conversion_fact final",
      where: this.#plan.scope.role === "partner" ? ["not is_private"] : [],
      currency: "currency",
      sums: {
        approved: "countIf(status = 'approved')",
        pending: "countIf(status = 'pending')",
        rejected: "countIf(status = 'rejected')",
        duplicates: "countIf(is_duplicate)",
        pending_payout: "sumIf(payout, status = 'pending') * 10000",
        pending_revenue: "sumIf(revenue, status = 'pending') * 10000",
        rejected_payout: "sumIf(payout, status = 'rejected') * 10000",
        rejected_revenue: "sumIf(revenue, status = 'rejected') * 10000",
        payout: "sumIf(payout, status = 'approved') * 10000",
        revenue: "sumIf(revenue, status = 'approved') * 10000",
        sale_amount: "sumIf(sale_amount, status = 'approved') * 10000",
      },
    });
  }

  #costs(): string[] {
    const { scope, range, currency, costRates } = this.#plan;
    if (scope.role !== "staff" || costRates === undefined) return [];
    const rows = costRows(
      { workspaceId: scope.workspaceId, range, currency, rates: costRates },
      (type, value) => this.#param(type, value),
    );
    return [
      this.#source("cost", this.#rowByRow, {
        from: `(\n${indent(rows)}\n)`,
        where: [],
        currency: "cost_currency",
        sums: { ad_cost: "sum(cost)" },
      }),
    ];
  }

  #source(source: Source, { grainMs, dated, spans }: Piece, parts: SourceParts): string {
    const { groupBy, filters } = this.#plan;
    const reading = { source, grainMs, dated };
    const keys = groupBy.flatMap((dimension, index) => this.#keys(reading, dimension, index));
    const sums = sourceSums(parts.sums);
    const where = [
      ...this.#scope(),
      this.#within(reading, spans),
      ...parts.where,
      ...filters.flatMap((filter) => this.#condition(reading, filter)),
    ];
    const columns = keys.map(({ name, sql }) => `${sql} as ${name}`);
    const text = [
      `select ${[...columns, `${parts.currency} as cur`, ...sums].join(", ")}`,
      `from ${parts.from}`,
      `where ${where.join("\n  and ")}`,
      `group by ${[...keys.map(({ name }) => name), "cur"].join(", ")}`,
    ].join("\n");
    return dated === "moved" ? moved(text, groupBy) : text;
  }

  /** The columns of a dimension. The time of a moved row has two: the one in UTC and the one in the zone. */
  #keys(reading: Reading, dimension: Dimension, index: number): { name: string; sql: string }[] {
    const one = (name: string, dated: Dating) => ({
      name: `${name}${index}`,
      sql: this.#value({ ...reading, dated }, dimension),
    });
    return reading.dated === "moved" && isTime(dimension.kind)
      ? [one("from", "utc"), one("to", "zone")]
      : [one(DIMENSION_COLUMN, reading.dated)];
  }

  #scope(): string[] {
    const { scope } = this.#plan;
    const workspace = `workspace_id = ${this.#param("UInt32", scope.workspaceId)}`;
    if (scope.role === "staff") return [workspace];
    const column = OWNER_COLUMN[scope.role];
    return [workspace, `${column} = ${this.#param("UInt32", scope.ownerId)}`];
  }

  /** The condition that a row is in one of the spans. */
  #within(reading: Reading, spans: readonly Span[]): string {
    const conditions = spans.map(({ fromMs, toMs }) => {
      const { grainMs } = reading;
      if (grainMs !== undefined) {
        const from = this.#param("UInt32", fromMs / grainMs);
        const to = this.#param("UInt32", (toMs + 1) / grainMs - 1);
        return `${step(grainMs)} >= ${from}\n  and ${step(grainMs)} <= ${to}`;
      }
      const at = this.#at(reading.source);
      const from = `fromUnixTimestamp64Milli(${this.#param("Int64", fromMs)}, 'UTC')`;
      const to = `fromUnixTimestamp64Milli(${this.#param("Int64", toMs)}, 'UTC')`;
      return `${at} >= ${from}\n  and ${at} <= ${to}`;
    });
    return conditions.length === 1
      ? conditions.join("")
      : `(${conditions.map((one) => `(${one})`).join("\n  or ")})`;
  }

  /** The time at which a row of the source counts. */
  #at(source: Source): string {
    if (source !== "conversion") return "ts";
    return this.#plan.dateBasis === "click" ? "ifNull(click_ts, conv_ts)" : "conv_ts";
  }

  #value(reading: Reading, { kind, columns }: Dimension): string {
    const column = columns[reading.source];
    if (isTime(kind)) return this.#time(reading, kind);
    if (column === "manager") return this.#manager();
    if (column === "") return kind === "id" ? "toUInt32(0)" : "''";
    return kind === "flag" ? `if(${column}, 'true', 'false')` : column;
  }

  #time({ source, grainMs, dated }: Reading, kind: TimeKind): string {
    const seconds =
      grainMs === undefined
        ? `toInt64(toUnixTimestamp(${this.#at(source)}))`
        : `(toInt64(${step(grainMs)}) * ${grainMs / SECOND_MS})`;
    const offset = dated === "utc" ? "0" : this.#offset(seconds);
    return timeSql(kind, seconds, offset);
  }

  /**
   * The zone's offset from UTC in seconds. It comes from us, so that both sides agree on every day, whatever zone data the server
   * has.
   */
  #offset(seconds: string): string {
    const offsets = this.#segments.map(({ offsetMs }) => this.#param("Int32", offsetMs / 1_000));
    const ends = this.#segments.slice(1).map(({ fromMs }) => this.#param("Int64", fromMs / 1_000));
    const cases = ends.flatMap((end, index) => [`${seconds} < ${end}`, offsets[index] ?? "0"]);
    const last = offsets.at(-1) ?? "0";
    return cases.length === 0 ? last : `multiIf(${[...cases, last].join(", ")})`;
  }

  #manager(): string {
    const { managers } = this.#plan;
    if (managers === undefined || managers.affiliateIds.length === 0) return "toUInt32(0)";
    const from = this.#param("Array(UInt32)", managers.affiliateIds);
    const to = this.#param("Array(UInt32)", managers.managerIds);
    return `transform(affiliate_id, ${from}, ${to}, toUInt32(0))`;
  }

  /** Empty if the filter does not apply to the source. */
  #condition(reading: Reading, filter: ReportFilter): string[] {
    const { source } = reading;
    const { dimension, operator, values } = filter;
    if (source === "cost" && dimension.columns.cost === "")
      return keepsCosts(filter) ? [] : ["false"];
    if (dimension.only !== undefined && dimension.only !== source) return [];
    if (dimension.columns[source] === "") return emptyPasses(filter) ? [] : ["false"];
    const value = this.#value(reading, dimension);
    const empty = dimension.kind === "id" ? "0" : "''";
    const list = (): string => this.#param(`Array(${elementType(dimension.kind)})`, values);
    switch (operator) {
      case "in":
        return [`${value} in ${list()}`];
      case "not_in":
        return [`${value} not in ${list()}`];
      case "contains":
        return [`arrayExists(part -> position(${value}, part) > 0, ${list()})`];
      case "not_contains":
        return [`not arrayExists(part -> position(${value}, part) > 0, ${list()})`];
      case "starts_with":
        return [`arrayExists(part -> startsWith(${value}, part), ${list()})`];
      case "empty":
        return [`${value} = ${empty}`];
      case "not_empty":
        return [`${value} != ${empty}`];
    }
  }

  #param(type: string, value: unknown): string {
    return this.#params.of(type, value);
  }
}

/** The time of a rollup, in exactly the text of its projection. Otherwise ClickHouse does not recognise the projection. */
function step(grainMs: number): string {
  return `intDiv(toUnixTimestamp(ts), ${grainMs / SECOND_MS})`;
}

function metricColumn(measure: Measure, index: number): string {
  return `toString(${measure.sql}) as ${METRIC_COLUMN}${index}`;
}

/** Ties are broken by the values of the dimensions. Rows without a value come last (G68). */
function orderBy(sort: ReportSort, keys: readonly string[]): string {
  const direction = sort.descending ? "desc" : "asc";
  const first =
    sort.by === "metric"
      ? `${sort.measure.sql} ${direction} nulls last`
      : `${keys[sort.index] ?? ""} ${direction}`;
  return `order by ${[first, ...keys].join(", ")}`;
}

function elementType(kind: DimensionKind): string {
  if (kind === "id") return "UInt32";
  return isTime(kind) ? "Int64" : "String";
}
