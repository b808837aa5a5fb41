import { z } from "zod";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { ROLLUPS } from "./rollups.ts";

const Digest = z.array(z.object({ steps: z.string(), digest: z.string() }));
const SUMS = {
  click:
    "count() as n, countIf(is_unique) as u, countIf(is_bot) as b, sum(click_payout) as p, sum(click_revenue) as r",
  impression: "count() as n",
} as const;

/**
 * The rollups whose sums differ from the sums of their rows, as `table.projection`. Both sides are added up inside of ClickHouse, to the
 * number of steps and a hash of all of them.
 */
export async function rollupDifferences(
  clickhouse: Clickhouse,
  progress: (name: string) => void = () => undefined,
): Promise<{ readonly compared: number; readonly differing: readonly string[] }> {
  const differing: string[] = [];
  let compared = 0;
  for (const [table, rollups] of Object.entries(ROLLUPS)) {
    for (const { projection, grainMs, columns } of rollups) {
      const name = `${table}.${projection}`;
      progress(name);
      compared += 1;
      const sums = table === "click" ? SUMS.click : SUMS.impression;
      const keys = `workspace_id, intDiv(toUnixTimestamp(ts), ${grainMs / 1_000}) as step, ${[...columns].join(", ")}`;
      const query = `select toString(count()) as steps, toString(sum(cityHash64(tuple(*)))) as digest
        from (select ${keys}, ${sums} from ${allShards(clickhouse, table)} group by all)`;
      const read = async (optimize_use_projections: 0 | 1): Promise<string> => {
        const answer = await clickhouse.query({
          query,
          format: "JSONEachRow",
          clickhouse_settings: { optimize_use_projections },
        });
        return JSON.stringify(Digest.parse(await answer.json()));
      };
      if ((await read(1)) !== (await read(0))) differing.push(name);
    }
  }
  return { compared, differing };
}
