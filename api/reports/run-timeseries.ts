import type { Queryable } from "../../schemas/postgres/connect.ts";
import {
  echoRange,
  type RangeEcho,
  type RangeQuery,
  type TimeRange,
} from "../../schemas/time/range.ts";
import { invalidParameter } from "../operation/errors.ts";
import { dayBuckets, hourBuckets } from "./buckets.ts";
import type { Comparison } from "./comparison.ts";
import { parseComparison } from "./comparison.ts";
import { bucketDimension, findDimension } from "./dimensions.ts";
import { emptyValue, type Measure } from "./measures.ts";
import type { ReportFilter } from "./report-filters.ts";
import {
  oneOf,
  parseConvert,
  parseCurrency,
  parseMetrics,
  parseRange,
  type ReportCaller,
  readFilters,
} from "./report-request.ts";
import { type ReportCells, type ReportStores, readReportPage } from "./report-rows.ts";
import type { ReportScope } from "./report-scope.ts";
import {
  type ConversionEcho,
  echoesOf,
  type NamedCells,
  namedCells,
  planOf,
} from "./run-report.ts";

/** The query of `GET /reports/timeseries`, as sent. */
export type TimeseriesQuery = RangeQuery & {
  readonly interval?: string | undefined;
  readonly metrics?: string | undefined;
  /** One item for each `filters=`. */
  readonly filters: readonly string[];
  /** Id or code. */
  readonly offer_id?: string | undefined;
  readonly affiliate_id?: string | undefined;
  readonly currency?: string | undefined;
  readonly compare?: string | undefined;
  readonly convert?: string | undefined;
  readonly totals?: string | undefined;
};

export type Interval = "day" | "hour";

export type TimeseriesRequest = {
  readonly interval: Interval;
  readonly range: TimeRange;
  readonly metrics: readonly Measure[];
  readonly filters: readonly ReportFilter[];
  readonly offer: string | undefined;
  readonly affiliate: string | undefined;
  readonly currency: string;
  readonly comparison: Comparison | undefined;
  readonly converts: boolean;
  readonly hasTotals: boolean;
};

export type Timeseries = {
  readonly data: readonly NamedCells[];
  readonly interval: Interval;
  readonly metrics: readonly string[];
  readonly range: RangeEcho;
  /** With `totals=1`. */
  readonly totals?: NamedCells;
  /** With `compare`. */
  readonly compared_range?: RangeEcho;
  readonly conversion?: ConversionEcho;
};

const HOURLY_DAYS_MAX = 31;
const CODE = /^[A-Za-z0-9._~-]{1,64}$/;
const ID_MAX = 2_147_483_647;

/** @throws {ApiError} `invalid_parameter` for the first invalid parameter. */
export function parseTimeseriesRequest(
  query: TimeseriesQuery,
  caller: ReportCaller,
): TimeseriesRequest {
  const interval = oneOf("interval", query.interval, ["day", "hour"]);
  const range =
    interval === "day"
      ? parseRange(query, caller, { defaultPreset: "last30" })
      : parseRange(query, caller, { defaultPreset: "today", daysMax: HOURLY_DAYS_MAX });
  return {
    interval,
    range,
    metrics: parseMetrics(query.metrics, caller.role),
    filters: readFilters(query.filters, caller.role),
    offer: query.offer_id,
    affiliate: query.affiliate_id,
    currency: parseCurrency(query.currency, caller.workspaceCurrency),
    comparison: parseComparison(query.compare, range, caller.nowMs),
    converts: parseConvert(query.convert),
    hasTotals: oneOf("totals", query.totals, ["0", "1"]) === "1",
  };
}

/** One row for every bucket of the range, including empty ones (TS-003, TS-004). */
export async function runTimeseries(
  stores: ReportStores,
  request: TimeseriesRequest,
  scope: ReportScope,
): Promise<Timeseries> {
  const { interval, range, metrics, comparison, hasTotals } = request;
  const buckets = interval === "day" ? dayBuckets(range) : hourBuckets(range);
  const plan = await planOf(
    stores,
    {
      ...request,
      filters: [...request.filters, ...(await narrowing(stores.db, request, scope))],
      groupBy: [bucketDimension(interval)],
      sort: { by: "dimension", index: 0, descending: false },
      dateBasis: "conversion",
      limit: buckets.length,
      offset: 0,
    },
    scope,
  );
  const { rows, totals, otherCurrencies } = await readReportPage(stores, plan);
  const found = new Map(rows.map((row) => [row.values[0], row]));
  const empty = emptyCells(metrics, comparison !== undefined);
  return {
    data: buckets.map((bucket) => ({
      bucket,
      ...namedCells(metrics, found.get(bucket) ?? empty),
    })),
    interval,
    metrics: metrics.map(({ name }) => name),
    range: echoRange(range),
    ...(hasTotals && { totals: namedCells(metrics, totals) }),
    ...echoesOf(request, otherCurrencies),
  };
}

function emptyCells(metrics: readonly Measure[], isCompared: boolean): ReportCells {
  const values = metrics.map(emptyValue);
  const compared = { previous: values, change: metrics.map(() => null) };
  return { metrics: values, compared: isCompared ? compared : undefined };
}

async function narrowing(
  db: Queryable,
  { offer, affiliate }: TimeseriesRequest,
  scope: ReportScope,
): Promise<ReportFilter[]> {
  const filters: ReportFilter[] = [];
  if (offer !== undefined) {
    // Private offers are for approved partners only (G49).
    const statement = `select o.id from offer o left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $4
      where o.workspace_id = $1 and (o.id = $2 or lower(o.code) = lower($3) or o.id = (
          select target_id from code_alias where workspace_id = $1 and kind = 'offer' and lower(alias) = lower($3)))
        and ($4::integer is null or o.visibility <> 'private' or ac.status = 'approved')
        and ($5::integer is null or o.advertiser_id = $5)
      order by o.id = $2 desc, lower(o.code) = lower($3) desc, o.deleted_at is not null, o.id desc limit 1`;
    filters.push(await oneRecord(db, { param: "offer_id", given: offer, statement }, scope));
  }
  if (affiliate !== undefined) {
    // A code would reveal to an advertiser which of its partners is which.
    if (scope.role === "advertiser" && !/^\d+$/.test(affiliate)) {
      throw invalidParameter("affiliate_id", "expected an id");
    }
    const statement = `select id from affiliate
      where workspace_id = $1 and (id = $2 or lower(code) = lower($3) or id = (
        select target_id from code_alias where workspace_id = $1 and kind = 'affiliate' and lower(alias) = lower($3)))
      and ($4::integer is null or id = $4) and ($5::integer is null or id = $2)
      order by id = $2 desc, lower(code) = lower($3) desc limit 1`;
    filters.push(
      await oneRecord(db, { param: "affiliate_id", given: affiliate, statement }, scope),
    );
  }
  return filters;
}

/**
 * Digits are tried as an id first, then as a code (G25), then as an alias (N112). An id without a record has no traffic. A code that
 * the key may not see is an unknown one, otherwise a partner could find out which codes exist (P30).
 */
async function oneRecord(
  db: Queryable,
  asked: { param: "offer_id" | "affiliate_id"; given: string; statement: string },
  scope: ReportScope,
): Promise<ReportFilter> {
  const { param, given, statement } = asked;
  if (!CODE.test(given)) throw invalidParameter(param, "expected an id or a code");
  const id = /^\d{1,10}$/.test(given) && Number(given) <= ID_MAX ? Number(given) : 0;
  const { rows } = await db.query<{ id: number }>({
    name: `find-report-${param}`,
    text: statement,
    values: [
      scope.workspaceId,
      id,
      given,
      scope.role === "partner" ? scope.ownerId : null,
      scope.role === "advertiser" ? scope.ownerId : null,
    ],
  });
  const found = rows[0]?.id;
  if (found === undefined && id === 0) throw invalidParameter(param, "names no record");
  const dimension = findDimension(param === "offer_id" ? "offer" : "affiliate", scope.role);
  if (dimension === undefined) throw invalidParameter(param, "not for this key");
  return { dimension, operator: "in", values: [found ?? id] };
}
