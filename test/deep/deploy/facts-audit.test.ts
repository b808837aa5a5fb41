import { expect, test } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

const LOST = 1_000;
const GHOSTS = 100;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };
/** Settings of every statement that destroys facts: it returns when they are gone. */
const AT_ONCE = { lightweight_deletes_sync: "2", mutations_sync: "2" } as const;

const Audited = z.object({
  found: z.array(z.object({ differences: z.record(z.string(), z.number()) })),
  remaining: z.array(z.unknown()),
});

test("1,000 lost facts and 100 ghosts are found by tracker audit, and repaired by --repair", async () => {
  await using system = await startSystem();
  const urls = await serversOf(system);
  await recordConversions(urls.postgres, LOST);
  const isEqual = async (): Promise<boolean> => {
    const { conversions, differences } = await factDifferences(urls);
    return conversions >= LOST && differences.length === 0;
  };
  await until("every fact is copied", isEqual, PATIENCE);
  expect(await trackerCommand(system.dataDir, ["audit"])).toMatchObject({ code: 0 });

  const clickhouse = openClickhouse({ url: urls.clickhouse, applicationName: "test" });
  const ghosts = await makeGhosts(clickhouse);
  await clickhouse.command({
    query: "delete from conversion_fact where id not in ({ghosts: Array(UUID)})",
    query_params: { ghosts },
    clickhouse_settings: AT_ONCE,
  });
  await clickhouse.close();
  expect((await factDifferences(urls)).differences).toHaveLength(LOST + GHOSTS);

  const found = await trackerCommand(system.dataDir, ["audit", "--json"]);
  expect(found).toMatchObject({ code: 1 });
  expect(kindsIn(found.output)).toEqual({ missing: LOST, ghost: GHOSTS });
  const repaired = await trackerCommand(system.dataDir, ["audit", "--repair"]);
  expect(repaired, repaired.output).toMatchObject({ code: 0 });
  expect((await factDifferences(urls)).differences).toEqual([]);
  for (const id of ghosts) expect(repaired.output).toContain(id);
});

/** Copies of facts under ids that Postgres does not have. Returns their ids. */
async function makeGhosts(clickhouse: ReturnType<typeof openClickhouse>): Promise<string[]> {
  const before = await idsOf(clickhouse);
  await clickhouse.command({
    query: `insert into conversion_fact select * replace (generateUUIDv4() as id) from conversion_fact final limit {ghosts: UInt32}`,
    query_params: { ghosts: GHOSTS },
  });
  const known = new Set(before);
  return (await idsOf(clickhouse)).filter((id) => !known.has(id));
}

async function idsOf(clickhouse: ReturnType<typeof openClickhouse>): Promise<string[]> {
  const answer = await clickhouse.query({
    query: "select toString(id) as id from conversion_fact final",
    format: "JSONEachRow",
  });
  return z
    .array(z.object({ id: z.string() }))
    .parse(await answer.json())
    .map(({ id }) => id);
}

/** Records in Postgres, with the change that the service copies. */
async function recordConversions(postgresUrl: string, count: number): Promise<void> {
  const pool = openPool({ url: postgresUrl, applicationName: "test" });
  try {
    await pool.query({
      text: `with recorded as (
               insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private,
                 status, revenue, payout, sale_amount, currency, payout_type, payout_rate, revenue_type, revenue_rate, method,
                 conv_ts, holds_click, holds_txid)
               select gen_random_uuid(), o.workspace_id, o.id, a.id, o.advertiser_id, 1, 'sale', false, 'approved', i + 0.0001,
                 i / 3.0, i * 10, 'USD', 'cpa', 1, 'rpa', 1, 's2s', date_trunc('milliseconds', now() - i * interval '7 minutes'),
                 false, false
               from generate_series(1, $1) i, (select id, workspace_id, advertiser_id from offer order by id limit 1) o,
                 (select id from affiliate order by id limit 1) a
               returning id)
             insert into conversion_fact_outbox (conversion_id) select id from recorded`,
      values: [count],
    });
  } finally {
    await pool.end();
  }
}

function kindsIn(output: string): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { differences } of Audited.parse(JSON.parse(output)).found) {
    for (const [kind, count] of Object.entries(differences)) {
      kinds[kind] = (kinds[kind] ?? 0) + count;
    }
  }
  return kinds;
}
