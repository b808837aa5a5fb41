import type { RecountRequest } from "./recount.ts";
import { clockText } from "./recounted-costs.ts";
import { type Row, rowsOf } from "./report-world.ts";

/** The query of `GET /reports` for the request of a recount. */
export function queryOf(request: RecountRequest): Record<string, string> {
  const filters = request.filters.map(({ dimension, operator, values }) =>
    [
      dimension,
      operator,
      ...(values.length === 0 ? [] : [values.map(encodeURIComponent).join("|")]),
    ].join(":"),
  );
  return {
    group_by: request.groupBy.join(","),
    metrics: request.metrics.join(","),
    sort: request.sort,
    filters: filters.join(","),
    from: new Date(request.fromMs).toISOString(),
    to: new Date(request.toMs).toISOString(),
    tz: request.tz,
    currency: request.currency,
    date_basis: request.dateBasis,
    limit: String(request.limit),
    offset: String(request.offset),
    ...(request.compare === undefined ? {} : { compare: comparedDates(request, request.compare) }),
    ...(request.converts === true ? { convert: "1" } : {}),
  };
}

/** The part of an answer that a recount has: cells without labels, number of rows, and currencies. */
export function recountedPart(answer: Row, { groupBy, metrics, compare }: RecountRequest): Row {
  const { totals, total_rows, other_currencies } = answer;
  const data = rowsOf(answer["data"]).map((row) =>
    Object.fromEntries(
      [...groupBy, ...metrics, ...(compare === undefined ? [] : ["previous", "change"])].map(
        (name) => [name, row[name]],
      ),
    ),
  );
  return { data, totals, total_rows, other_currencies };
}

/** `2025-03-01..2025-03-07`: as many days as the range has, so many days before. */
function comparedDates({ fromMs, toMs, tz }: RecountRequest, days: number): string {
  const dates = [fromMs, toMs].map((ms) => {
    const own = Date.parse(`${clockText(ms, tz).slice(0, 10)}T00:00:00Z`);
    return new Date(own - days * 86_400_000).toISOString().slice(0, 10);
  });
  return dates.join("..");
}
