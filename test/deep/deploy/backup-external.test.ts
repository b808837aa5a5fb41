import { expect, test, vi } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { CatalogLedger } from "../../system/catalog-ledger.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { backUpClickhouse, restoreClickhouse } from "../../system/clickhouse-backup.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { DebianPostgres, debianPostgresFault } from "../../system/debian-postgres.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { IngressMachine } from "../../system/ingress-machine.ts";
import { OwnServer } from "../../system/own-server.ts";
import { serversOf } from "../../system/servers-of.ts";
import { readDemo, ServiceClient } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const CLICKS = IS_FULL ? 200 : 40;
const CONVERSIONS = 20;
/** Two loads send nearly throughout, with a conversion for each click of one. */
const PER_SECOND = IS_FULL ? 100 : 20;
const BACKUP = "outside";
const PATIENCE = { timeoutMs: 180_000, pollMs: 500 };
const fault = debianPostgresFault();
if (fault !== undefined)
  process.stderr.write(`skipped: Postgres and ClickHouse restored by their own tools: ${fault}\n`);

test.skipIf(fault !== undefined)(
  "Postgres and ClickHouse restored by their own tools lose no click and reuse no id",
  async () => {
    await using postgres = await DebianPostgres.open();
    await using clickhouse = await OwnServer.open("clickhouse");
    await using nats = await OwnServer.open("nats");
    const env = { POSTGRES_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, NATS_URL: nats.url };
    await using system = await startSystem({ env });
    const urls = await serversOf(system);
    const client = new ServiceClient(await readDemo(system.dataDir));
    const link = client.demo.links.affiliate.replace(/\?.*/, "");
    const load = new ClickLoad(link);
    // This ingress runs throughout, as the page says.
    await using steady = await IngressMachine.open("steady", urls);
    await steady.start();
    const steadyLoad = new ClickLoad(steady.linkTo(link));
    const conversions = new ConversionLoad(client, load);
    const catalog = new CatalogLedger(client);
    load.start(2, PER_SECOND);
    steadyLoad.start(2, PER_SECOND);
    conversions.start();
    await grow(load, conversions);
    postgres.backUp();
    const visitor = await untilStored(clickhouse, load);
    await backUpClickhouse(clickhouse, BACKUP);
    const tracker = async (args: string[]) => await trackerCommand(system.dataDir, args, env);
    const erased = await tracker(["person", "erase", "--workspace", "demo", "--click", visitor]);
    expect(erased.output).toMatch(/^Cleared: 1 clicks/);
    expect(await userAgentOf(clickhouse, visitor)).toBe("");
    await catalog.make(2);
    await grow(load, conversions);
    const note = async (...args: string[]) => await tracker(["backup", "note", ...args]);
    expect((await note("--store", "postgres")).output).toMatch(/postgres: \d+ s ago/);
    expect((await note("--store", "clickhouse")).output).toMatch(/clickhouse: \d+ s ago/);
    await conversions.stop();
    await load.stop();
    const reports = [...conversions.answered.values()];
    postgres.switchLog();
    await system.stop();
    await postgres.kill();
    await postgres.restore();
    await restoreClickhouse(clickhouse, BACKUP);
    expect(await userAgentOf(clickhouse, visitor)).toContain("Firefox");
    const answeredMeanwhile = steadyLoad.answered.size;

    expect((await tracker(["migrate"])).code).toBe(0);
    await until(
      "`tracker restored` is done",
      async () => {
        const { code, output } = await tracker(["restored", "--both", "--hold-deliveries"]);
        if (code !== 0) throw new Error(output);
        return true;
      },
      // Each try is a process that loads the whole program.
      { timeoutMs: 90_000, pollMs: 5_000 },
    );
    await using again = await startSystem({ dataDir: system.dataDir, env, ports: system.ports });
    expect(again.ports).toEqual(system.ports);
    await catalog.make(2);
    expect(catalog.repeatedIds).toEqual([]);
    expect(steadyLoad.answered.size).toBeGreaterThan(answeredMeanwhile);
    expect([steadyLoad.refused, steadyLoad.unanswered.size]).toEqual([0, 0]);
    await steadyLoad.stop();
    const loads = [load, steadyLoad];
    await until(
      "every answered click is stored once",
      async () => (await clickDifferences(urls.clickhouse, loads)).length === 0,
      PATIENCE,
    ).catch(() => undefined);
    expect((await clickDifferences(urls.clickhouse, loads)).slice(0, 5)).toEqual([]);
    const audited = await tracker(["audit", "--repair"]);
    expect(audited, audited.output).toMatchObject({ code: 0 });
    const facts = await factDifferences(urls);
    expect(facts.differences).toEqual([]);
    // The archive of the write-ahead log has every conversion.
    expect(facts.conversions).toBe(reports.length);
    expect((await tracker(["deliveries", "release"])).output).toContain("are sent from now on");
    expect((await tracker(["person", "repeat-erasures"])).output).toMatch(/^1 erasures are due/);
    await until(
      "the visitor is erased again",
      async () => (await userAgentOf(clickhouse, visitor)) === "",
      PATIENCE,
    );
    await client.close();
  },
);

/** A click of the load that ClickHouse has. */
async function untilStored({ url }: OwnServer, load: ClickLoad): Promise<string> {
  return await until(
    "a click is stored",
    async () => (await storedClicks(url, load.run))[0]?.click_id,
    PATIENCE,
  );
}

async function userAgentOf({ url }: OwnServer, clickId: string): Promise<string> {
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  try {
    const [row] = await selectRows(
      clickhouse,
      {
        name: "test.user-agent",
        text: "select user_agent from click where click_id = unhex({clickId:String})",
        params: { clickId },
      },
      z.object({ user_agent: z.string() }),
    );
    if (row === undefined) throw new Error(`click ${clickId} is not stored`);
    return row.user_agent;
  } finally {
    await clickhouse.close();
  }
}

async function grow(load: ClickLoad, conversions: ConversionLoad): Promise<void> {
  const [clicks, reports] = [load.answered.size, conversions.answered.size];
  await until(
    "more clicks and conversions are answered",
    () =>
      load.answered.size >= clicks + CLICKS && conversions.answered.size >= reports + CONVERSIONS,
    PATIENCE,
  );
}
