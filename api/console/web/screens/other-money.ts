import { type ReportRow, useReport } from "../client/reports.ts";
import { useMembership } from "../member/membership.ts";

/** The figures of one row in the currencies that are left out, by currency. */
export type OtherMoney = ReadonlyMap<string, ReportRow>;

/** The other currencies of a row of the report. Undefined if they are not known (yet). */
export type OtherMoneyOf = (row: ReportRow) => OtherMoney | undefined;

const ROWS_MAX = 1_000;
/** The API groups by three dimensions, and the currency is one. */
const DIMENSIONS_MAX = 2;
const NOT_KNOWN: OtherMoneyOf = () => undefined;

/** Reads money that a report leaves out, each in its own currency. It asks only if there is any. */
export function useOtherMoney({
  query,
  groupBy,
  metrics,
  others,
}: {
  /** Range and filters of the report. */
  readonly query: Readonly<Record<string, string>>;
  readonly groupBy: readonly string[];
  readonly metrics: readonly string[];
  readonly others: readonly string[];
}): OtherMoneyOf {
  const membership = useMembership();
  const isKnowable =
    others.length > 0 &&
    metrics.length > 0 &&
    groupBy.length <= DIMENSIONS_MAX &&
    !groupBy.includes("currency");
  const filter = `currency:in:${others.join("|")}`;
  const { compare: _compare, convert: _convert, currency: _currency, ...rest } = query;
  const asked = {
    ...rest,
    group_by: [...groupBy, "currency"].join(","),
    metrics: metrics.join(","),
    filters: query["filters"] === undefined ? filter : `${query["filters"]},${filter}`,
    sort: `-${metrics[0] ?? ""}`,
    limit: String(ROWS_MAX),
  };
  const report = useReport(membership, asked, "after", isKnowable);
  if (!isKnowable || report.data === undefined || report.isPlaceholderData) return NOT_KNOWN;
  const { data, total_rows: rows } = report.data;
  const known = byRow(data, groupBy);
  const isWhole = rows <= ROWS_MAX;
  return (row) => known.get(keyOf(row, groupBy)) ?? (isWhole ? new Map() : undefined);
}

function byRow(
  rows: readonly ReportRow[],
  groupBy: readonly string[],
): ReadonlyMap<string, OtherMoney> {
  const found = new Map<string, Map<string, ReportRow>>();
  for (const row of rows) {
    const key = keyOf(row, groupBy);
    const byCurrency = found.get(key) ?? new Map<string, ReportRow>();
    byCurrency.set(String(row["currency"]), row);
    found.set(key, byCurrency);
  }
  return found;
}

function keyOf(row: ReportRow, groupBy: readonly string[]): string {
  return groupBy.map((name) => String(row[name])).join("\u0000");
}
