import type { RecountRequest } from "./recount.ts";
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
  };
}

/** The part of an answer that a recount has: cells without labels, number of rows, and currencies. */
export function recountedPart(answer: Row, { groupBy, metrics }: RecountRequest): Row {
  const { totals, total_rows, other_currencies } = answer;
  const data = rowsOf(answer["data"]).map((row) =>
    Object.fromEntries([...groupBy, ...metrics].map((name) => [name, row[name]])),
  );
  return { data, totals, total_rows, other_currencies };
}
