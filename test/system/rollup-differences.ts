import { z } from "zod";
import { ROLLUPS } from "../../api/reports/rollups.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";

const Totals = z.array(z.record(z.string(), z.unknown()));

/** The rollups whose sums differ from the sums of their rows, as `table.projection`; empty if all agree. */
export async function rollupDifferences(clickhouse: Clickhouse): Promise<string[]> {
  const different: string[] = [];
  for (const [table, rollups] of Object.entries(ROLLUPS)) {
    for (const { projection, grainMs, columns } of rollups) {
      const sums =
        table === "click"
          ? "count() as n, countIf(is_unique) as u, countIf(is_bot) as b, sum(click_payout) as p, sum(click_revenue) as r"
          : "count() as n";
      const keys = `workspace_id, intDiv(toUnixTimestamp(ts), ${grainMs / 1_000}) as step, ${[...columns].join(", ")}`;
      const read = async (optimize_use_projections: 0 | 1): Promise<string> => {
        const answer = await clickhouse.query({
          query: `select ${keys}, ${sums} from ${table} group by all order by all`,
          format: "JSONEachRow",
          clickhouse_settings: { optimize_use_projections },
        });
        return JSON.stringify(Totals.parse(await answer.json()));
      };
      if ((await read(1)) !== (await read(0))) different.push(`${table}.${projection}`);
    }
  }
  return different;
}
