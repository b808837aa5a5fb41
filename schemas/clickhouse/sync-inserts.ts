import { z } from "zod";
import { openClickhouse } from "./connect.ts";
import { selectRows } from "./select.ts";
import type { ClickhouseServer } from "./server.ts";

const Table = z.object({ name: z.string() });

/**
 * Makes a server alone acknowledge clicks only after they are on its disk, for `DURABILITY=strict`; facts and marks always are. Replicated
 * tables are left as they are: another server has their rows. Returns the tables that were changed. Safe to run twice.
 */
export async function syncInserts(server: ClickhouseServer): Promise<string[]> {
  const clickhouse = openClickhouse({ ...server, applicationName: "tracker migrate" });
  try {
    const text = `select name from system.tables where database = currentDatabase()
        and name in ('click', 'impression') and engine = 'MergeTree'
        and (not match(engine_full, 'fsync_after_insert = (1|true)')
          or not match(engine_full, 'fsync_part_directory = (1|true)'))
      order by name`;
    const tables = await selectRows(clickhouse, { name: "migrate.unsynced", text }, Table);
    for (const { name } of tables) {
      await clickhouse.command({
        query: `alter table {table: Identifier}
          modify setting fsync_after_insert = 1, fsync_part_directory = 1`,
        query_params: { table: name },
      });
    }
    return tables.map(({ name }) => name);
  } finally {
    await clickhouse.close();
  }
}
