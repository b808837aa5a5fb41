import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Figure, FigureKind } from "../format/figure.ts";
import { type Api, read } from "./api-client.ts";
import { type Priority, ReportQueue } from "./report-queue.ts";

/** A row of a report: values of dimensions and metrics, with `compare` also of the other period. */
export type ReportRow = Readonly<Record<string, Figure>> & {
  readonly previous?: Readonly<Record<string, Figure>>;
  readonly change?: Readonly<Record<string, number | null>>;
};

export type Metric = {
  readonly name: string;
  readonly label: string;
  readonly kind: FigureKind;
  readonly definition: string;
};

export type Dimension = {
  readonly name: string;
  readonly label: string;
  readonly definition: string;
  /** Operators of filters on it. */
  readonly operators: readonly string[];
};

/** What a report of this role may contain. It changes only with a release or a role. */
export type ReportFields = {
  readonly metrics: readonly Metric[];
  readonly dimensions: readonly Dimension[];
};

/** The API refuses a person more than four at once, and each report would slow the others down. */
const REPORTS = new ReportQueue(2);
const FIELDS_FRESH_MS = 3_600_000;

/** Who reads: cached answers belong to one membership. */
export type Reader = { readonly api: Api; readonly membershipId: number };

/** What a role calls metrics and dimensions, by the names of the API, and which metrics are money of one unit. */
export type FieldWords = {
  readonly names: Readonly<Record<string, string>>;
  readonly prices: ReadonlySet<string>;
};

export function useReportFields(
  { api, membershipId }: Reader,
  { names, prices }: FieldWords,
): UseQueryResult<ReportFields> {
  const labelOf = (field: Metric | Dimension): string => names[field.name] ?? field.label;
  return useQuery({
    queryKey: [membershipId, "report-fields"],
    staleTime: FIELDS_FRESH_MS,
    select: ({ metrics, dimensions }: ReportFields) => ({
      metrics: metrics.map((metric) => ({
        ...metric,
        label: labelOf(metric),
        kind: prices.has(metric.name) ? "price" : metric.kind,
      })),
      dimensions: dimensions.map((one) => ({ ...one, label: labelOf(one) })),
    }),
    queryFn: async ({ signal }) => {
      const [metrics, dimensions] = await Promise.all([
        read(api.GET("/reports/metrics", { signal })),
        read(api.GET("/reports/dimensions", { signal })),
      ]);
      return {
        metrics: metrics.data.map(({ name, label, kind, definition }) => ({
          name,
          label,
          kind,
          definition,
        })),
        dimensions: dimensions.data.map(({ name, label, definition, operators }) => ({
          name,
          label,
          definition,
          operators,
        })),
      };
    },
  });
}

type Query = Readonly<Record<string, string>>;

/** Two instants, and the zone by whose clock they begin and end days. */
export type DayRange = { readonly from: string; readonly to: string; readonly tz: string };

/** A page of a report, its totals, and the currencies whose money is left out. */
export type ReportAnswer = {
  readonly data: readonly ReportRow[];
  readonly totals: ReportRow;
  readonly currency: string;
  readonly total_rows: number;
  readonly other_currencies: readonly string[];
  readonly range: DayRange;
  /** With `compare`. */
  readonly compared_range?: DayRange | undefined;
  /** With `convert`: the currencies that have no rate. */
  readonly conversion?: { readonly unconverted: readonly string[] } | undefined;
};

/** A report outside of a screen's own query, such as one for many rows of a list. It waits in the queue like the others. */
export async function readReport({ api }: Reader, query: Query): Promise<ReportAnswer> {
  return await REPORTS.take({ priority: "after" }, async () =>
    read(api.GET("/reports", { params: { query } })),
  );
}

/**
 * One page of a report. The page before stays while the next one loads. `priority` is "after" for what stands below the first figures of a
 * screen.
 */
export function useReport(
  reader: Reader,
  query: Query,
  priority: Priority = "first",
  enabled = true,
): UseQueryResult<ReportAnswer> {
  return useQuery({
    ...reportOptions(reader, query, priority),
    placeholderData: keepPreviousData,
    enabled,
  });
}

/** What `useQuery` and `usePrefetchQuery` take. */
type Asked<Answer> = {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Answer>;
};

/** For `usePrefetchQuery`: a report that is asked for before the part of a screen that shows it is there. */
export function reportOptions(
  { api, membershipId }: Reader,
  query: Query,
  priority: Priority = "first",
): Asked<ReportAnswer> {
  return {
    queryKey: [membershipId, "report", query],
    queryFn: async ({ signal }) =>
      await REPORTS.take({ signal, priority }, async () =>
        read(api.GET("/reports", { params: { query }, signal })),
      ),
  };
}

export type Timeseries = {
  readonly data: readonly ReportRow[];
  readonly range: DayRange;
  readonly compared_range?: DayRange | undefined;
};

export function useTimeseries(
  reader: Reader,
  query: Query,
  priority: Priority = "first",
): UseQueryResult<Timeseries> {
  return useQuery({
    ...timeseriesOptions(reader, query, priority),
    placeholderData: keepPreviousData,
  });
}

/** As {@link reportOptions}. */
export function timeseriesOptions(
  { api, membershipId }: Reader,
  query: Query,
  priority: Priority = "first",
): Asked<Timeseries> {
  return {
    queryKey: [membershipId, "timeseries", query],
    queryFn: async ({ signal }) =>
      await REPORTS.take({ signal, priority }, async () =>
        read(api.GET("/reports/timeseries", { params: { query }, signal })),
      ),
  };
}
