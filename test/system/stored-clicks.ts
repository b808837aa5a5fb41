import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";

const Row = z.object({ click_id: z.string(), sub2: z.string() });
export type StoredClick = z.infer<typeof Row>;

/** Every row of a load's clicks, directly from the table: a click stored twice appears twice. */
export async function storedClicks(clickhouseUrl: string, run: string): Promise<StoredClick[]> {
  const clickhouse = openClickhouse({ url: clickhouseUrl, applicationName: "test" });
  try {
    const answer = await clickhouse.query({
      query: "select lower(hex(click_id)) as click_id, sub2 from click where sub1 = {run:String}",
      query_params: { run },
      format: "JSONEachRow",
    });
    return z.array(Row).parse(await answer.json());
  } finally {
    await clickhouse.close();
  }
}
