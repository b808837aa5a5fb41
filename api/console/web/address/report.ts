import {
  type AddressFault,
  type Compare,
  comparedParams,
  oneOf,
  type Period,
  periodParams,
  readPeriod,
} from "./period.ts";

/** A report as it stands in the address, with the names of the API. */
export type ReportAddress = {
  readonly period: Period;
  readonly groupBy: readonly string[];
  readonly metrics: readonly string[];
  /** In the grammar of the API: `country:in:DE|AT`. */
  readonly filters: readonly string[];
  /** With a leading `-` for descending. */
  readonly sort: string;
  readonly page: number;
  /** Which time dates conversions. */
  readonly dateBasis: "conversion" | "click";
  readonly chart: ChartName;
};

export const CHARTS = ["series", "bars", "map", "week", "delay", "none"] as const;
const BASES = ["conversion", "click"] as const;
export type ChartName = (typeof CHARTS)[number];

const GROUPS_MAX = 3;
const DEFAULT_GROUP = "offer";
const DEFAULT_SORT = "-clicks";
export const ROWS_PER_PAGE = 100;

/** `usual` is what an address is compared with that does not say it. */
export function readReport(
  search: URLSearchParams,
  usual?: Compare,
): {
  readonly report: ReportAddress;
  readonly faults: AddressFault[];
} {
  const { period, faults } = readPeriod(search, usual);
  const groupBy = listIn(search.get("group_by") ?? DEFAULT_GROUP);
  if (groupBy.length > GROUPS_MAX)
    faults.push({ parameter: "group_by", message: `at most ${GROUPS_MAX}` });
  const page = Number(search.get("page") ?? "1");
  return {
    report: {
      period,
      groupBy: groupBy.slice(0, GROUPS_MAX),
      metrics: listIn(search.get("metrics") ?? ""),
      filters: listIn(search.get("filters") ?? ""),
      sort: search.get("sort") ?? DEFAULT_SORT,
      page: Number.isInteger(page) && page >= 1 ? page : 1,
      dateBasis: oneOf(search, { name: "date_basis", allowed: BASES }, faults) ?? "conversion",
      chart: oneOf(search, { name: "chart", allowed: CHARTS }, faults) ?? "series",
    },
    faults,
  };
}

/** The query of `GET /reports`, also of its curl and of its CSV. */
export function reportQuery(report: ReportAddress): Record<string, string> {
  return {
    ...periodParams(report.period),
    ...sharedParams(report),
    sort: report.sort,
    limit: String(ROWS_PER_PAGE),
    ...(report.page === 1 ? {} : { offset: String((report.page - 1) * ROWS_PER_PAGE) }),
  };
}

/** What the address bar shows. */
export function reportAddress(report: ReportAddress): URLSearchParams {
  return new URLSearchParams({
    ...comparedParams(report.period),
    ...sharedParams(report),
    sort: report.sort,
    ...(report.page === 1 ? {} : { page: String(report.page) }),
    ...(report.chart === "series" ? {} : { chart: report.chart }),
  });
}

function sharedParams({
  groupBy,
  metrics,
  filters,
  dateBasis,
}: ReportAddress): Record<string, string> {
  return {
    ...(groupBy.length === 0 ? {} : { group_by: groupBy.join(",") }),
    ...(metrics.length === 0 ? {} : { metrics: metrics.join(",") }),
    ...(filters.length === 0 ? {} : { filters: filters.join(",") }),
    ...(dateBasis === "click" ? { date_basis: dateBasis } : {}),
  };
}

function listIn(text: string): string[] {
  return text.split(",").filter((one) => one !== "");
}
