import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openPool } from "../../schemas/postgres/connect.ts";

const Row = z.object({
  id: z.string(),
  version: z.number(),
  status: z.string(),
  revenue: z.string(),
  payout: z.string(),
  sale_amount: z.string(),
});
const COLUMNS = "version, status, revenue, payout, sale_amount";

/** One sentence for each conversion whose copy in ClickHouse differs or is missing, and for each copy without a conversion. */
export async function factDifferences(urls: {
  readonly postgres: string;
  readonly clickhouse: string;
}): Promise<{ readonly conversions: number; readonly differences: string[] }> {
  const db = openPool({ url: urls.postgres, applicationName: "test", connectionsMax: 1 });
  const clickhouse = openClickhouse({ url: urls.clickhouse, applicationName: "test" });
  try {
    const { rows } = await db.query({ text: `select id::text as id, ${COLUMNS} from conversion` });
    const records = new Map(
      z
        .array(Row)
        .parse(rows)
        .map((row) => [row.id, JSON.stringify(row)]),
    );
    const answer = await clickhouse.query({
      query: `select toString(id) as id, ${COLUMNS} from conversion_fact final`,
      format: "JSONEachRow",
    });
    const copies = z.array(Row).parse(await answer.json());
    const differences: string[] = [];
    const seen = new Set<string>();
    for (const copy of copies) {
      const text = JSON.stringify(copy);
      const record = records.get(copy.id);
      if (seen.has(copy.id)) differences.push(`conversion ${copy.id} has two copies`);
      else if (record === undefined) differences.push(`a copy of no conversion: ${text}`);
      else if (record !== text) differences.push(`${record} is ${text} in ClickHouse`);
      seen.add(copy.id);
    }
    for (const [id, text] of records) if (!seen.has(id)) differences.push(`no copy of ${text}`);
    return { conversions: records.size, differences };
  } finally {
    await clickhouse.close();
    await db.end();
  }
}
