import { z } from "zod";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import { invalidParameter } from "../operation/errors.ts";
import { closedValue, nearestValue, OPEN_LISTS } from "./closed-values.ts";
import type { ReportFilter } from "./report-filters.ts";
import { type ReportScope, scopeConditions } from "./report-scope.ts";
import { SqlParams } from "./sql-params.ts";

const Stored = z.object({ name: z.string() });

/**
 * Filters on systems and browsers whose values are in no list, with the spelling of the caller's clicks. Most filters need no look-up.
 * @throws {ApiError} `invalid_parameter` for a value that no click has, with the nearest of the list (G238).
 */
export async function withStoredNames(
  clickhouse: ClickhouseReader,
  filters: readonly ReportFilter[],
  scope: ReportScope,
): Promise<readonly ReportFilter[]> {
  const found: ReportFilter[] = [];
  for (const filter of filters) {
    const column = OPEN_LISTS.find((name) => name === filter.dimension.name);
    const isWhole = filter.operator === "in" || filter.operator === "not_in";
    const unlisted =
      column === undefined || !isWhole
        ? []
        : filter.values.map(String).filter((value) => closedValue(column, value) === undefined);
    if (column === undefined || unlisted.length === 0) {
      found.push(filter);
      continue;
    }
    const stored = await selectStored(clickhouse, { column, scope, names: unlisted });
    const values = filter.values.flatMap((value) => {
      if (!unlisted.includes(String(value))) return [value];
      const known = stored.filter((name) => name.toLowerCase() === String(value).toLowerCase());
      if (known.length > 0) return known;
      const nearest = nearestValue(column, String(value)) ?? "";
      throw invalidParameter("filters", `unknown ${column} "${value}", nearest: ${nearest}`);
    });
    found.push({ ...filter, values });
  }
  return found;
}

/** Read from the sums by day and device (rollups.ts), not from the rows. */
async function selectStored(
  clickhouse: ClickhouseReader,
  of: {
    readonly column: (typeof OPEN_LISTS)[number];
    readonly scope: ReportScope;
    readonly names: readonly string[];
  },
): Promise<readonly string[]> {
  const params = new SqlParams();
  const names = params.of(
    "Array(String)",
    of.names.map((name) => name.toLowerCase()),
  );
  const rows = await selectRows(
    clickhouse,
    {
      name: "api.report-stored-names",
      text: `select ${of.column} as name from ${allShards(clickhouse, "click")}
        where ${scopeConditions(of.scope, params).join(" and ")} and lower(${of.column}) in ${names}
        group by ${of.column}`,
      params: params.values,
    },
    Stored,
  );
  return rows.map(({ name }) => name);
}
