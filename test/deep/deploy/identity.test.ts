import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import type { ServerUrls } from "../../services/servers.ts";
import { ChildServer } from "../../system/child-server.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { IngressMachine } from "../../system/ingress-machine.ts";
import { OwnServer } from "../../system/own-server.ts";
import { serversOf } from "../../system/servers-of.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const CLICKS = IS_FULL ? 100 : 30;
/** The loads send throughout each test. */
const PER_SECOND = IS_FULL ? 100 : 20;
const PATIENCE = { timeoutMs: 120_000, pollMs: 100 };
/** For conditions that read every click. */
const STORED = { ...PATIENCE, pollMs: 500 };

/** The original installation of all tests. Its Postgres and ClickHouse can be cloned. */
const postgres = await forThisFile(OwnServer.open("postgres"));
const clickhouse = await forThisFile(OwnServer.open("clickhouse"));
const system = await forThisFile(
  startSystem({ env: { POSTGRES_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url } }),
);
const urls = await serversOf(system);

test("a copy of the stores writes nothing until clone-reset, and then loses none of its clicks", async () => {
  const link = system.client.demo.links.affiliate.replace(/\?.*/, "");
  const original = new ClickLoad(link);
  original.start(2, PER_SECOND);
  await grow(original);
  await withPool(postgres.url, addImport);

  await using clonedPostgres = await postgres.clone();
  await using clonedClickhouse = await clickhouse.clone();
  const clone = { ...urls, postgres: clonedPostgres.url, clickhouse: clonedClickhouse.url };
  await using early = new Processors(clone);
  await early.untilLogged("stores.used-by-a-copy");
  await until(
    "the original reports the copy",
    async () =>
      (await readFile(join(system.dataDir, "logs", "processors.log"), "utf8")).includes(
        "stores.copy-found",
      ),
    PATIENCE,
  );
  await using machine = await IngressMachine.open("clone", clone);
  await machine.start();
  const copied = new ClickLoad(machine.linkTo(link));
  copied.start(2, PER_SECOND);
  await grow(copied);
  await until(
    "the copy's ingress keeps its clicks",
    () => machine.output.includes("nats.streams-of-another-installation"),
    PATIENCE,
  );
  await copied.stop();
  await early.stop();
  // Otherwise a copy that still uses the ClickHouse of the original would give it the new incarnation.
  const shared = { POSTGRES_URL: clone.postgres, CLICKHOUSE_URL: urls.clickhouse };
  const refused = await trackerCommand(machine.dataDir, ["clone-reset", "--yes"], shared);
  expect(refused.output).toContain("are connected to Postgres");
  await machine.kill();
  const stores = { POSTGRES_URL: clone.postgres, CLICKHOUSE_URL: clone.clickhouse };
  const tracker = async (args: string[], more: Record<string, string> = stores) =>
    await trackerCommand(machine.dataDir, args, { ...more, NATS_URL: clone.nats });
  expect((await tracker(["clone-reset", "--yes"], shared)).output).toContain(
    "another Postgres uses this ClickHouse",
  );
  expect(await tracker(["clone-reset"])).toMatchObject({ code: 1 });
  const reset = await tracker(["clone-reset", "--yes"]);
  expect(reset, reset.output).toMatchObject({ code: 0 });
  expect(await secretsInUse(clone.postgres, urls.postgres)).toEqual({
    endpoints: 0,
    secrets: 0,
    imports: 0,
  });

  // With the NATS_PREFIX of the original it still does not belong to the streams.
  await using wrong = new Processors(clone);
  await wrong.untilLogged("stores.do-not-belong-together");
  await wrong.stop();
  const prefix = { NATS_PREFIX: /NATS_PREFIX=([\w-]+)/.exec(reset.output)?.[1] ?? "" };
  const migrated = await tracker(["migrate"], { ...stores, ...prefix });
  expect(migrated.output).toContain("belong together");
  await using right = new Processors(clone, prefix);
  await right.untilLogged("process.running");
  machine.env = prefix;
  await machine.start();
  await until(
    "the clicks of the copy are stored there",
    async () => (await clickDifferences(clone.clickhouse, [copied])).length === 0,
    STORED,
  );
  await original.stop();
  await until(
    "the clicks of the original are stored there",
    async () => (await clickDifferences(urls.clickhouse, [original])).length === 0,
    STORED,
  );
  expect(await storedClicks(urls.clickhouse, copied.run)).toEqual([]);
  expect((await trackerCommand(system.dataDir, ["audit"])).code).toBe(0);
});

test("a running copy of a journal is noticed, and no click is lost or counted twice", async () => {
  const link = system.client.demo.links.affiliate.replace(/\?.*/, "");
  const original = new ClickLoad(link);
  original.start(2, PER_SECOND);
  await grow(original);
  await using machine = await IngressMachine.open("copy", urls, { copyOf: system.dataDir });
  await machine.start();
  const copied = new ClickLoad(machine.linkTo(link));
  copied.start(2, PER_SECOND);
  await until(
    "the copy is reported",
    () =>
      [system.output(), machine.output].some((output) =>
        output.includes("runs on a copy of this journal folder"),
      ),
    PATIENCE,
  );
  await grow(original);
  await grow(copied);
  await original.stop();
  await copied.stop();
  await until(
    "every answered click is stored once",
    async () => (await clickDifferences(urls.clickhouse, [original, copied])).length === 0,
    STORED,
  );
  expect(await clickDifferences(urls.clickhouse, [original, copied])).toEqual([]);
});

test("an installation gets the secret of a lost one, but not after its first click", async () => {
  const file = join(system.dataDir, "kept.json");
  const exported = await trackerCommand(system.dataDir, ["installation", "export", "--file", file]);
  expect(exported).toMatchObject({ code: 0 });
  const kept = await readFile(file, "utf8");
  expect(exported.output).not.toContain(secretIn(kept));
  const shown = await trackerCommand(system.dataDir, ["installation", "export"]);
  expect(shown.output).toMatch(/^Warning: .*secret/);
  const again = await trackerCommand(system.dataDir, ["installation", "export", "--file", file]);
  expect(again).toMatchObject({ code: 1 });
  const busy = await trackerCommand(system.dataDir, ["installation", "import", file]);
  expect(busy.output).toContain("Stop them, then run it again");

  // Migrated data of the run would have the secret of the original.
  await using emptyPostgres = await OwnServer.open("postgres", { isEmpty: true });
  await using emptyClickhouse = await OwnServer.open("clickhouse", { isEmpty: true });
  const stores = {
    POSTGRES_URL: emptyPostgres.url,
    CLICKHOUSE_URL: emptyClickhouse.url,
    NATS_URL: urls.nats,
    NATS_PREFIX: "new",
  };
  const tracker = async (...args: string[]) => await trackerCommand(system.dataDir, args, stores);
  expect(await tracker("migrate")).toMatchObject({ code: 0 });
  expect(await tracker("installation", "import", file)).toMatchObject({ code: 0 });
  expect(secretIn((await tracker("installation", "export")).output)).toBe(secretIn(kept));
  const repeated = await tracker("installation", "import", file);
  expect(repeated.output).toContain("Nothing to change");
  await withPool(emptyPostgres.url, (pool) =>
    pool.query({ text: "update installation set secret = repeat('0', 64)" }),
  );
  const client = openClickhouse({ url: emptyClickhouse.url, applicationName: "test" });
  await client.insert({ table: "click", values: [{ offer_id: 1 }], format: "JSONEachRow" });
  await client.close();
  const late = await tracker("installation", "import", file);
  expect(late.output).toContain("has clicks or conversions of its own");
});

/** Processors on the stores of a copy. */
class Processors {
  readonly #child: ChildServer;
  readonly #folder = mkdtempSync(join(tmpdir(), "tracker-copy-"));
  #output = "";

  constructor(stores: ServerUrls, env: Readonly<Record<string, string>> = {}) {
    const own = {
      POSTGRES_URL: stores.postgres,
      CLICKHOUSE_URL: stores.clickhouse,
      NATS_URL: stores.nats,
      DATA_DIR: this.#folder,
      OPS_PORT: "0",
      ...env,
    };
    this.#child = ChildServer.spawn(nodeProgram("processors"), own, (line) => {
      this.#output += `${line}\n`;
    });
  }

  async untilLogged(event: string): Promise<void> {
    await until(`${event}: ${this.#output}`, () => this.#output.includes(event), PATIENCE);
  }

  async stop(): Promise<void> {
    await this.#child.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function grow(load: ClickLoad): Promise<void> {
  const before = load.answered.size;
  await until("more clicks are answered", () => load.answered.size >= before + CLICKS, PATIENCE);
}

/** Live endpoints and keys of the copy, and tokens that it shares with the original. */
async function secretsInUse(
  clone: string,
  original: string,
): Promise<{ endpoints: number; secrets: number; imports: number }> {
  const rows = async <Row extends Record<string, unknown>>(
    url: string,
    text: string,
  ): Promise<Row[]> => await withPool(url, async (pool) => (await pool.query<Row>({ text })).rows);
  const [live] = await rows<{ count: number }>(
    clone,
    `select (select count(*) from postback where status = 'active') + (select count(*) from webhook where active)
       + (select count(*) from api_key where revoked_at is null) as count`,
  );
  const [open] = await rows<{ count: number }>(
    clone,
    "select (select count(*) from import where ended_at is null) + (select count(*) from import_part) as count",
  );
  const tokens =
    "select postback_token as token from workspace union all select postback_token from advertiser";
  const old = new Set((await rows<{ token: string }>(original, tokens)).map(({ token }) => token));
  const kept = (await rows<{ token: string }>(clone, tokens)).filter(({ token }) => old.has(token));
  return {
    endpoints: live?.count ?? -1,
    secrets: kept.length,
    imports: open?.count ?? -1,
  };
}

/** An import that waits for ever, and one whose file has not arrived whole. */
async function addImport(pool: ReturnType<typeof openPool>): Promise<void> {
  await pool.query({
    text: `with open as (
             insert into import (workspace_id, key_id, created_by, is_fresh, request_id, kind, name, format, delimiter, is_dry_run,
               is_update, skips_faulty, status, record_id, leased_until)
             select workspace_id, id, '', true, '', 'offers', '', 'csv', ',', false, false, false, status, 'copied', 'infinity'
             from (select workspace_id, id from api_key order by id limit 1) key, (values ('queued'), ('uploading')) as one(status)
             returning id)
           insert into import_part (import_id, number, bytes) select id, 0, 'x' from open`,
  });
}

async function withPool<T>(
  url: string,
  work: (pool: ReturnType<typeof openPool>) => Promise<T>,
): Promise<T> {
  const pool = openPool({ url, applicationName: "test" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

function secretIn(text: string): string {
  return /"secret": "([0-9a-f]{64})"/.exec(text)?.[1] ?? "no secret";
}
