import { expect, test, vi } from "vitest";
import { z } from "zod";
import { CONNECTION_LIMITS, openPool } from "../../../schemas/postgres/connect.ts";
import { startReceiver } from "../../integration/outgoing/receiver.ts";
import { freshDatabase } from "../../services/fresh-database.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { OwnServer } from "../../system/own-server.ts";
import { findPgBouncer, PgBouncer } from "../../system/pg-bouncer.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook } from "../../system/verify-webhook.ts";

vi.setConfig({ testTimeout: 240_000 });

const CLICKS = 300;
const CONVERSIONS = 60;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };
/** Fewer than the processes open, so that each transaction gets the session that another transaction had. */
const CONNECTIONS = 4;

const found = await findPgBouncer();
const program = "program" in found ? found.program : undefined;
if ("fault" in found) process.stderr.write(`skipped: PgBouncer: ${found.fault}\n`);

const Created = z.object({ data: z.looseObject({ secret: z.string() }) });
const Report = z.object({
  data: z.array(z.looseObject({ clicks: z.number(), conversions: z.number() })),
});

test.skipIf(program === undefined)(
  "the whole service runs through PgBouncer in transaction mode, with every limit in force",
  async () => {
    if (program === undefined) return;
    await using postgres = await OwnServer.open("postgres");
    const settings = { default_pool_size: String(CONNECTIONS), reserve_pool_size: "0" };
    await using bouncer = await PgBouncer.open(program, postgres.url, { settings });
    await using receiver = await startReceiver();
    const env = {
      POSTGRES_URL: bouncer.url,
      POSTGRES_DIRECT_URL: postgres.url,
      ALLOW_PRIVATE_DESTINATIONS: "1",
      DURABILITY: "strict",
      STRICT_SINGLE_SITE: "1",
      STRICT_STANDBYS: "0",
    };
    await using system = await startSystem({ env });
    const { client } = system;
    const urls = { ...(await serversOf(system)), postgres: postgres.url };
    const events = ["conversion.created"];
    const url = `http://127.0.0.1:${receiver.port}/hook`;
    const hook = await client.create("/webhooks", { name: "all", url, events });
    const { secret } = Created.parse(hook).data;

    const load = new ClickLoad(client.demo.links.affiliate.replace(/\?.*/, ""));
    const conversions = new ConversionLoad(client, load);
    load.start(2, 100);
    conversions.start();
    await until(
      "clicks and conversions are answered",
      () => load.answered.size >= CLICKS && conversions.answered.size >= CONVERSIONS,
      PATIENCE,
    );
    const shared = await bouncer.connections();
    await conversions.stop();
    await load.stop();
    expect([load.refused, load.unanswered.size, conversions.refused]).toEqual([0, 0, []]);
    await until(
      "every answered click is stored once",
      async () => (await clickDifferences(urls.clickhouse, [load])).length === 0,
      PATIENCE,
    );
    const told = (): Set<unknown> =>
      new Set(receiver.received.map((one) => verifyWebhook(one, secret).data["id"]));
    await until(
      "each conversion is told",
      () => told().size >= conversions.answered.size,
      PATIENCE,
    );
    await until(
      "every conversion has its copy for reports",
      async () => (await factDifferences(urls)).differences.length === 0,
      PATIENCE,
    );
    const reports = conversions.answered.size;
    expect((await factDifferences(urls)).conversions).toBe(reports);
    await until(
      "the report counts all of them",
      async () => {
        const answer = await client.rest("/reports?preset=today&metrics=clicks,conversions");
        const [row] = Report.parse(answer).data;
        return row?.conversions === reports && row.clicks >= load.answered.size;
      },
      PATIENCE,
    );
    expect(receiver.received).toHaveLength(reports);

    expect(shared.length).toBeGreaterThan(0);
    expect(shared.length).toBeLessThanOrEqual(CONNECTIONS);
    expect(await clientsOf(postgres.url)).toBeLessThanOrEqual(CONNECTIONS);
    const doctor = await trackerCommand(system.dataDir, ["doctor", "--strict"], env);
    expect(doctor.output).toMatch(/ok +P1/);
  },
);

test.skipIf(program === undefined)(
  "each connection of PgBouncer has the time limits, from its file or else from `tracker migrate`",
  async () => {
    if (program === undefined) return;
    await using postgres = await OwnServer.open("postgres");
    await using clickhouse = await OwnServer.open("clickhouse");
    await using nats = await OwnServer.open("nats");
    const servers = { postgres: postgres.url, clickhouse: clickhouse.url };
    await using ours = await PgBouncer.open(program, postgres.url);
    expect(await limitsAt(ours.url)).toEqual(CONNECTION_LIMITS);

    // This pooler sends no statements of its own when it connects.
    await using plain = await PgBouncer.open(program, postgres.url, { database: "" });
    const database = await freshDatabase({ label: "pgbouncer", servers });
    const through = new URL(plain.url);
    through.pathname = `/${database.name}`;
    const migrated = await trackerCommand(postgres.dataDir, ["migrate"], {
      POSTGRES_URL: through.href,
      POSTGRES_DIRECT_URL: database.postgresUrl,
      CLICKHOUSE_URL: database.clickhouseUrl,
      NATS_URL: nats.url,
    });
    expect(migrated, migrated.output).toMatchObject({ code: 0 });
    expect(await limitsAt(through.href)).toEqual(CONNECTION_LIMITS);
  },
);

/** The limits of the connection that a statement gets, in milliseconds. */
async function limitsAt(url: string): Promise<Record<string, number>> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  try {
    const { rows } = await pool.query<{ name: string; setting: string }>({
      text: "select name, setting from pg_settings where name = any($1)",
      values: [Object.keys(CONNECTION_LIMITS)],
    });
    return Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
  } finally {
    await pool.end();
  }
}

/** Connections of the service to Postgres. */
async function clientsOf(url: string): Promise<number> {
  const pool = openPool({ url, applicationName: "this test", connectionsMax: 1 });
  try {
    const { rows } = await pool.query<{ connections: number }>({
      text: `select count(*) as connections from pg_stat_activity
             where usename = current_user and application_name <> 'this test'`,
    });
    return rows[0]?.connections ?? 0;
  } finally {
    await pool.end();
  }
}
