import { tableOn } from "../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseCluster } from "../../schemas/clickhouse/connect.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, HOUR_MS, type OffsetSegment, SECOND_MS } from "../../schemas/time/zone.ts";
import { costRows, judgementOf, offsetOfLocal } from "./cost-rows.ts";
import {
  BUCKET,
  type Dimension,
  type DimensionKind,
  emptyValueOf,
  isTime,
  type Source,
  type TimeKind,
} from "./dimensions.ts";
import { indent } from "./indent.ts";
import type { Sum } from "./measures.ts";
import { moved, netted } from "./moved-rows.ts";
import type { ReportFilter } from "./report-filters.ts";
import { DIMENSION_COLUMN, type ReportPlan } from "./report-plan.ts";
import { OWNER_COLUMN, scopeConditions } from "./report-scope.ts";
import { type Dating, type Piece, piecesOf, type Span, stepSql, stepsOf } from "./rollups.ts";
import type { SqlParams } from "./sql-params.ts";
import {
  CLICK_SUMS,
  CONVERSION_SUMS,
  HOME,
  moneyKeys,
  sourceSums,
  type UsedSums,
  usedSums,
} from "./sum-columns.ts";
import { delaySql, timeSql } from "./time-sql.ts";

/** How rows of a source are read: row by row or from a rollup, and by which clock they are dated. */
type Reading = {
  readonly source: Source;
  readonly grainMs: number | undefined;
  readonly dated: Dating;
};
type SourceParts = {
  readonly from: string;
  readonly currency: string;
  readonly sums: Partial<Record<Sum, string>>;
};

/** A period that a report reads: its own, or the period that it is compared with. */
export type Period = {
  readonly range: TimeRange;
  /** Its rows are shown so many days later, beside the report's own period. */
  readonly daysLater: number;
};

/** What reports never count. */
const UNCOUNTED = { click: "status != 'blocked'", conversion: "not is_private" } as const;
const DAY_SECONDS = DAY_MS / SECOND_MS;
/** More spans are a list of their steps: the server plans many conditions slowly, once for each projection. */
const SPANS_MAX = 2;
const HOUR_SECONDS = HOUR_MS / SECOND_MS;
/** The value of a source without the dimension, unless it is the empty text. */
const NONE: Partial<Record<DimensionKind, string>> = { id: "toUInt32(0)", delay: "toUInt8(0)" };

/** The rows of one period, as selects with equal columns: `d0`… for the dimensions, the keys of its money, and `s_…` for the sums. */
export class PeriodSources {
  readonly #params: SqlParams;
  readonly #plan: ReportPlan;
  readonly #period: Period;
  readonly #segments: readonly OffsetSegment[];
  readonly #rowByRow: Piece;
  readonly #used: UsedSums;
  readonly #cluster: ClickhouseCluster | undefined;

  constructor(
    plan: ReportPlan,
    period: Period,
    {
      params,
      cluster,
    }: { readonly params: SqlParams; readonly cluster: ClickhouseCluster | undefined },
  ) {
    const { range } = period;
    this.#cluster = cluster;
    this.#params = params;
    this.#plan = plan;
    this.#period = period;
    this.#used = usedSums(plan);
    this.#rowByRow = { grainMs: undefined, spans: [range], dated: "zone" };
    this.#segments = range.zone.segments(range.fromMs, range.toMs);
  }

  /** The rows that a cluster spreads over its shards. */
  spread(): string[] {
    return [...this.#clicks(), ...this.#impressions()];
  }

  /** The rows that every node has. */
  copied(): string[] {
    return [this.#conversions(), ...this.#costs()];
  }

  /** The conditions of the single rows that the period counts. */
  conditions(source: "click" | "conversion"): string[] {
    const { dated, grainMs, spans } = this.#rowByRow;
    return this.#where({ source, dated, grainMs }, spans);
  }

  #clicks(): string[] {
    return this.#withRollups("click", {
      count: "clicks",
      from: tableOn(this.#cluster, "click"),
      currency: "currency",
      sums: CLICK_SUMS,
    });
  }

  #impressions(): string[] {
    // Impressions have no money, so a report whose rows do not depend on them only counts them.
    if (isFilled(this.#plan) && !this.#used.ofSources.includes("impressions")) return [];
    return this.#withRollups("impression", {
      count: "impressions",
      from: tableOn(this.#cluster, "impression"),
      currency: "''",
      sums: { impressions: "count()" },
    });
  }

  /** A source that has rollups. */
  #withRollups(
    source: "click" | "impression",
    parts: SourceParts & { readonly count: Sum },
  ): string[] {
    if (this.#isLeftOut(source)) return [];
    const { count } = parts;
    const always = source === "click" ? ["status", "currency"] : [];
    const pieces = this.#pieces(source, always);
    const used = this.#used.ofSources;
    if (!pieces.some(({ dated }) => dated === "moved"))
      return pieces.map((piece) => this.#source(source, piece, parts));
    const counted = used.includes(count) ? used : [...used, count];
    const texts = pieces.map((piece) => this.#source(source, piece, parts, counted));
    const keys = this.#plan.groupBy.map((_, index) => `${DIMENSION_COLUMN}${index}`);
    return [netted(texts, [...keys, ...moneyKeys(this.#plan)], { sums: used, count })];
  }

  /** How the rows of a source are read. Uses a rollup where it has every column that the report needs. */
  #pieces(source: Source, always: readonly string[]): Piece[] {
    const { groupBy, filters, scope } = this.#plan;
    const dimensions = [
      ...groupBy,
      ...filters
        .map(({ dimension }) => dimension)
        .filter(({ only }) => only === undefined || only === source),
    ];
    const known = dimensions.flatMap(({ kind, columns }) =>
      isTime(kind) || columns[source] === "" ? [] : [columns[source]],
    );
    return piecesOf(source, this.#period.range, {
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
      currency: "currency",
      sums: CONVERSION_SUMS,
    });
  }

  #costs(): string[] {
    const { scope, currency, costRates } = this.#plan;
    const { range } = this.#period;
    if (scope.role !== "staff" || costRates === undefined || this.#isLeftOut("cost")) return [];
    const rows = costRows(
      { workspaceId: scope.workspaceId, range, currency, rates: costRates },
      (type, value) => this.#param(type, value),
    );
    return [
      this.#source("cost", this.#rowByRow, {
        from: `(\n${indent(rows)}\n)`,
        currency: "cost_currency",
        sums: { ad_cost: "sum(cost)" },
      }),
    ];
  }

  #source(
    source: Source,
    { grainMs, dated, spans }: Piece,
    parts: SourceParts,
    sums = this.#used.ofSources,
  ): string {
    const { groupBy } = this.#plan;
    const reading = { source, grainMs, dated };
    const keys = groupBy.flatMap((dimension, index) => this.#keys(reading, dimension, index));
    const money = [
      { name: "cur", sql: parts.currency },
      ...this.#day(reading, parts.currency),
      ...this.#home(source),
    ];
    const columns = [...keys, ...money];
    const text = [
      `select ${[...columns.map(({ name, sql }) => `${sql} as ${name}`), ...sourceSums(parts.sums, sums)].join(", ")}`,
      `from ${parts.from}`,
      `where ${this.#where(reading, spans).join("\n  and ")}`,
      `group by ${columns.map(({ name }) => name).join(", ")}`,
    ].join("\n");
    return dated === "moved"
      ? moved(text, groupBy, { moneyKeys: moneyKeys(this.#plan), sums })
      : text;
  }

  #where(reading: Reading, spans: readonly Span[]): string[] {
    const { scope, filters } = this.#plan;
    const { source } = reading;
    return [
      ...scopeConditions(scope, this.#params),
      this.#within(reading, spans),
      ...(source === "click" ? [UNCOUNTED.click] : []),
      ...(source === "conversion" && scope.role === "partner" ? [UNCOUNTED.conversion] : []),
      ...filters.flatMap((filter) => this.#condition(reading, filter)),
    ];
  }

  /** The day of UTC at whose rate money is converted: a conversion's own day, whatever dates the conversion. */
  #day(reading: Reading, currency: string): { name: string; sql: string }[] {
    const { source } = reading;
    if (this.#plan.moneyRates === undefined) return [];
    if (source === "impression" || source === "cost") return [{ name: "day", sql: "toInt64(0)" }];
    const seconds = this.#seconds(reading, source === "conversion" ? "conv_ts" : "ts");
    const isForeign = `${currency} not in ('', ${this.#param("String", this.#plan.currency)})`;
    return [
      { name: "day", sql: `if(${isForeign}, intDiv(${seconds}, ${DAY_SECONDS}), toInt64(0))` },
    ];
  }

  /** Whether an offer has the currency of the report, for rows without money of their own. Rows without an offer count as yes. */
  #home(source: Source): { name: string; sql: string }[] {
    const { homeOffers } = this.#plan;
    if (homeOffers === undefined) return [];
    if (source === "conversion" || source === "cost") return [{ name: HOME, sql: "toUInt8(1)" }];
    const ids = this.#param("Array(UInt32)", homeOffers.ids);
    const sql = homeOffers.areHome
      ? `toUInt8(offer_id = 0 or offer_id in ${ids})`
      : `toUInt8(offer_id not in ${ids})`;
    return [{ name: HOME, sql }];
  }

  /** The columns of a dimension. The time of a moved row has two columns: in UTC and in the zone. */
  #keys(reading: Reading, dimension: Dimension, index: number): { name: string; sql: string }[] {
    const one = (name: string, dated: Dating) => ({
      name: `${name}${index}`,
      sql: this.#value({ ...reading, dated }, dimension),
    });
    return reading.dated === "moved" && isTime(dimension.kind)
      ? [one("from", "utc"), one("to", "zone")]
      : [one(DIMENSION_COLUMN, reading.dated)];
  }

  /** The condition that a row is in one of the spans. */
  #within(reading: Reading, spans: readonly Span[]): string {
    const { grainMs } = reading;
    if (grainMs !== undefined && spans.length > SPANS_MAX)
      return `${stepSql(grainMs)} in ${this.#param("Array(UInt32)", stepsOf(spans, grainMs))}`;
    const conditions = spans.map(({ fromMs, toMs }) => {
      if (grainMs !== undefined) {
        const from = this.#param("UInt32", fromMs / grainMs);
        const to = this.#param("UInt32", (toMs + 1) / grainMs - 1);
        return `${stepSql(grainMs)} >= ${from}\n  and ${stepSql(grainMs)} <= ${to}`;
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
    if (column === "") return NONE[kind] ?? "''";
    if (kind === "delay") return delaySql("click_ts", "conv_ts");
    return kind === "flag" ? `if(${column}, 'true', 'false')` : column;
  }

  #time(reading: Reading, kind: TimeKind): string {
    const seconds = this.#seconds(reading, this.#at(reading.source));
    const offset = reading.dated === "utc" ? "0" : this.#offset(seconds);
    const { daysLater } = this.#period;
    // Days of the week and hours of the day are compared by their values, all else by its place in the period.
    if (daysLater === 0 || kind === "weekday" || kind === "hour_of_day")
      return timeSql(kind, seconds, offset);
    const later = `(${offset} + ${this.#param("Int64", daysLater * DAY_SECONDS)})`;
    return kind === "hour_start"
      ? this.#hourLater(`(${seconds} + ${later})`)
      : timeSql(kind, seconds, later);
  }

  /** The hour of the report's own period that shows the same time of the clock, from SQL for the local seconds. */
  #hourLater(local: string): string {
    const { range } = this.#plan;
    const hour = `(intDiv(${local}, ${HOUR_SECONDS}) * ${HOUR_SECONDS})`;
    const offset = offsetOfLocal(range, hour, (type, value) => this.#param(type, value));
    const at = `(${hour} - ${offset})`;
    return timeSql(
      "hour_start",
      at,
      this.#offset(at, range.zone.segments(range.fromMs, range.toMs)),
    );
  }

  /** SQL for the seconds since 1970 of `at`, or of the step that is read. */
  #seconds({ grainMs }: Reading, at: string): string {
    return grainMs === undefined
      ? `toInt64(toUnixTimestamp(${at}))`
      : `(toInt64(${stepSql(grainMs)}) * ${grainMs / SECOND_MS})`;
  }

  /**
   * The zone's offset from UTC in seconds. It comes from us, so that both sides agree on every day, whatever zone data the server
   * has.
   */
  #offset(seconds: string, segments = this.#segments): string {
    const offsets = segments.map(({ offsetMs }) => this.#param("Int32", offsetMs / 1_000));
    const ends = segments.slice(1).map(({ fromMs }) => this.#param("Int64", fromMs / 1_000));
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

  /** Whether the filters keep no row of a source, so that it need not be read. */
  #isLeftOut(source: Source): boolean {
    return this.#plan.filters.some((filter) => judgementOf(filter, source) === "all refused");
  }

  /** Empty if the filter does not apply to the source. */
  #condition(reading: Reading, filter: ReportFilter): string[] {
    const { dimension, operator, values } = filter;
    const judged = judgementOf(filter, reading.source);
    if (judged !== "by value") return judged === "all refused" ? ["false"] : [];
    const value = this.#value(reading, dimension);
    const empty = emptyValueOf(dimension.kind) === 0 ? "0" : "''";
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

/** Whether each possible row is answered, also without anything to count: the only row of a report without dimensions, and each bucket. */
function isFilled({ groupBy }: ReportPlan): boolean {
  return groupBy.every(({ name }) => name === BUCKET);
}

function elementType(kind: DimensionKind): string {
  if (kind === "id") return "UInt32";
  return isTime(kind) || kind === "delay" ? "Int64" : "String";
}
