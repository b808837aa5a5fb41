import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { SECRETS_KEY_NAME } from "../../../schemas/secrets/secret-keys.ts";
import { startReceiver } from "../../integration/outgoing/receiver.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { CatalogLedger } from "../../system/catalog-ledger.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { restoreClickhouseFrom } from "../../system/clickhouse-backup.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { OwnServer } from "../../system/own-server.ts";
import { serversOf } from "../../system/servers-of.ts";
import { readDemo, ServiceClient } from "../../system/service.ts";
import { freePort, startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { NatsNode } from "./nats-node.ts";
import { TrackerInstance } from "./tracker-instance.ts";

vi.setConfig({ testTimeout: 300_000 });

const CLICKS = IS_FULL ? 200 : 60;
const CONVERSIONS = 30;
const PER_SECOND = IS_FULL ? 50 : 20;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };
/** Each try is a command: a process that loads the whole program. */
const COMMAND = { timeoutMs: 120_000, pollMs: 2_000 };
const PRIVATE = { ALLOW_PRIVATE_DESTINATIONS: "1" };

test("one machine becomes many while visitors click: no click lost or doubled, ids and reports stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tracker-move-"));
  await using receiver = await startReceiver();
  await using postgres = await OwnServer.open("postgres");
  // The archive is restored into it.
  await using clickhouse = await OwnServer.open("clickhouse", { isEmpty: true });
  await using nats = await NatsNode.open();
  await nats.start();
  await using old = await startSystem({ env: PRIVATE });
  // It outlives the old machine: the new api has the same address.
  const client = new ServiceClient(await readDemo(old.dataDir));
  const oldUrls = await serversOf(old);
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  await client.create("/webhooks", { name: "all", url, events: ["conversion.created"] });
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const catalog = new CatalogLedger(client);
  await catalog.make(2);
  const before = new ClickLoad(link);
  const conversionsBefore = new ConversionLoad(client, before);
  before.start(2, PER_SECOND);
  conversionsBefore.start();
  await grow(before, conversionsBefore);

  // 1: ingress hosts of the new installation, still on the old Postgres.
  const { password } = new URL(oldUrls.postgres);
  const postgresUrl = Object.assign(new URL(postgres.url), { password }).href;
  const urlFile = join(folder, "postgres-url");
  await writeFile(urlFile, oldUrls.postgres, { mode: 0o600 });
  await using instance = await TrackerInstance.open(
    { postgres: postgresUrl, clickhouse: clickhouse.url, nats: (user) => nats.urlOf(user) },
    {
      env: { ...PRIVATE, SECRETS_KEY_FILE: join(folder, "move", SECRETS_KEY_NAME) },
      ingressEnv: { POSTGRES_URL: "", POSTGRES_URL_FILE: urlFile },
      ports: { tracking: await freePort(), api: old.ports.api },
    },
  );
  await instance.start([instance.ingress]);

  // 2: visitors move there.
  const tracking_url = `http://127.0.0.1:${instance.ports.tracking}`;
  const moved = new ServiceClient({ ...client.demo, tracking_url });
  const after = new ClickLoad(`${tracking_url}${new URL(link).pathname}`);
  after.start(2, PER_SECOND);
  await conversionsBefore.stop();
  await before.stop();
  await until(
    "the old machine has stored everything",
    async () => (await trackerCommand(old.dataDir, ["audit"])).code === 0,
    COMMAND,
  );
  const pictured = await pictureOf(client, before);

  // 3: the last archive of the old machine.
  expect(await trackerCommand(old.dataDir, ["deliveries", "hold"])).toMatchObject({ code: 0 });
  const archive = join(folder, "move.tar.gz");
  const taken = await trackerCommand(old.dataDir, ["backup", archive]);
  expect(taken, taken.output).toMatchObject({ code: 0 });
  expect(await old.stop()).toBe(0);

  // 4: its stores on the new servers.
  await unpackInto(folder, { postgres, clickhouse });

  // 5: the new processes.
  await instance.run("migrate");
  await until(
    "`tracker restored` is done",
    async () => (await instance.run("restored", "--both")) !== "",
    { timeoutMs: 90_000, pollMs: 5_000 },
  );
  await instance.start([instance.clicks, instance.rest]);
  const shipped = await trackerCommand(old.dataDir, ["journal", "ship"], {
    POSTGRES_URL: postgresUrl,
    NATS_URL: nats.urlOf("ingress"),
  });
  expect(shipped, shipped.output).toMatchObject({ code: 0 });
  await instance.start([instance.api]);

  // 6: ingress on the new Postgres, a worker at a time.
  await writeFile(urlFile, postgresUrl, { mode: 0o600 });
  const workers = await instance.ingress.children();
  expect(workers).toHaveLength(2);
  instance.ingress.signal("SIGHUP");
  await until(
    "every worker is a new one",
    async () => {
      const now = await instance.ingress.children();
      return now.length === workers.length && !now.some((pid) => workers.includes(pid));
    },
    PATIENCE,
  );
  await instance.untilReady(instance.ingress);
  expect(await instance.run("deliveries", "release")).toContain("are sent from now on");

  const conversionsAfter = new ConversionLoad(moved, after);
  conversionsAfter.start();
  await grow(after, conversionsAfter);
  await conversionsAfter.stop();
  await after.stop();
  const loads = [before, after];
  expect(loads.map(({ refused, unanswered }) => [refused, unanswered.size])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await until(
    "every answered click is stored once",
    async () => (await clickDifferences(clickhouse.url, loads)).length === 0,
    PATIENCE,
  ).catch(() => undefined);
  expect((await clickDifferences(clickhouse.url, loads)).slice(0, 5)).toEqual([]);
  await until(
    "the audit finds no difference",
    async () => (await instance.run("audit", "--repair")) !== "",
    { timeoutMs: 60_000, pollMs: 2_000 },
  );
  expect(await pictureOf(client, before)).toEqual(pictured);
  await catalog.make(2);
  expect(catalog.repeatedIds).toEqual([]);
  const reports = conversionsBefore.answered.size + conversionsAfter.answered.size;
  expect(conversionsBefore.repeatedIds).toEqual([]);
  const facts = await factDifferences({ postgres: postgresUrl, clickhouse: clickhouse.url });
  expect(facts).toEqual({ conversions: reports, differences: [] });
  await until("each conversion is told", () => receiver.received.length >= reports, PATIENCE);
  expect(new Set(receiver.received.map(({ body }) => idIn(body))).size).toBe(reports);
  expect(receiver.received).toHaveLength(reports);
  await moved.close();
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

/** The records and the report of the traffic before the move, as the API shows them. */
async function pictureOf(client: ServiceClient, { run }: ClickLoad): Promise<unknown> {
  const report = `/reports?preset=today&group_by=offer&filters=sub1:in:${run}&metrics=clicks,unique_clicks,conversions,payout,revenue`;
  return {
    report: await client.rest(report),
    offers: await client.rest("/offers?limit=100"),
    affiliates: await client.rest("/affiliates?limit=100"),
    clicks: await client.rest(`/clicks?sub1=${run}&limit=100`),
  };
}

/** As the page says, with the owner and the addresses of this machine. */
async function unpackInto(
  folder: string,
  { postgres, clickhouse }: { readonly postgres: OwnServer; readonly clickhouse: OwnServer },
): Promise<void> {
  const unpacked = join(folder, "move");
  await mkdir(unpacked, { mode: 0o700 });
  runProgram("tar", ["-xzf", join(folder, "move.tar.gz"), "-C", unpacked]);
  const { uid, gid } = await stat(postgres.folder);
  await postgres.stop();
  await rm(postgres.folder, { recursive: true });
  await mkdir(postgres.folder, { mode: 0o700 });
  runProgram("tar", ["-xf", join(unpacked, "postgres.tar"), "-C", postgres.folder]);
  runProgram("chown", ["-R", `${uid}:${gid}`, postgres.folder]);
  // The launcher of this server gives it the password that it finds.
  for (const name of ["postgres.password", "postgres-backup.password"])
    await cp(join(unpacked, name), join(postgres.dataDir, name));
  await postgres.start();
  await restoreClickhouseFrom(clickhouse, join(unpacked, "clickhouse"));
}

function runProgram(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

const Told = z.object({ data: z.looseObject({ id: z.string() }) });

function idIn(body: string): string {
  return Told.parse(JSON.parse(body)).data.id;
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
