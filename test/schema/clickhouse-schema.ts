import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { clickhouseDatabase } from "../../schemas/clickhouse/server.ts";

/**
 * The tables, views and dictionaries of the database that `url` names, as ClickHouse stores them (with projections and settings),
 * ordered by name.
 */
export async function readClickhouseSchema(
  clickhouse: ClickhouseReader,
  url: string,
): Promise<string> {
  const database = clickhouseDatabase(url);
  const answer = await clickhouse.query({
    query: `select formatQuery(create_table_query) as statement from system.tables
            where database = {database: String} order by name`,
    query_params: { database },
    format: "JSONEachRow",
  });
  const rows = await answer.json<{ statement: string }>();
  return `${rows.map(({ statement }) => `${statement.replaceAll(`${database}.`, "")};`).join("\n\n")}\n`;
}
