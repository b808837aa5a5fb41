import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { compileReport } from "../../../api/reports/compile-report.ts";
import { readMoneyDays } from "../../../api/reports/money-days.ts";
import { parseReportRequest } from "../../../api/reports/report-request.ts";
import { ListedClick } from "../../../api/traffic/clicks/click-row.ts";
import { selectClick, selectClicks } from "../../../api/traffic/clicks/clicks.ts";
import { askClickhouse } from "../../../api/workspace/system/status/ask-clickhouse.ts";
import { startClickhouse } from "../../../deploy/local/embedded-clickhouse.ts";
import { pickPort } from "../../../deploy/local/ports.ts";
import { selectStoredPositions } from "../../../processors/clicks/lane/stored-positions.ts";
import { CLICK_TABLE } from "../../../processors/clicks/rows/lane-table.ts";
import { StoredAdClicks } from "../../../processors/conversions/attribute/stored-ad-clicks.ts";
import { StoredClicks } from "../../../processors/conversions/attribute/stored-clicks.ts";
import { eraseOldClicks } from "../../../processors/schedule/click-retention.ts";
import { listStarts } from "../../../processors/schedule/store-starts.ts";
import { findingsOf } from "../../../schemas/checks/check.ts";
import { CLICKHOUSE_CHECKS } from "../../../schemas/checks/clickhouse-checks.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { DISTRIBUTED_TABLES } from "../../../schemas/clickhouse/layout.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { RELAXED } from "../../samples/durability.ts";
import { CLUSTER, EnginePair } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { runtimeDir, testReport } from "../../services/servers.ts";

const ROLES = ["MIGRATE", "WRITER", "READER"] as const;
const CLUSTER_USERS = projectFile("deploy", "servers", "clickhouse", "cluster-users.xml");
const CLUSTER_CONFIG = projectFile("deploy", "servers", "clickhouse", "cluster.xml");
const SCOPE = { role: "staff", workspaceId: 7 } as const;
const AT_MS = Date.UTC(2025, 1, 3);
const CLICK_ID = "0".repeat(32);

const password = randomBytes(12).toString("hex");
const hash = createHash("sha256").update(password).digest("hex");
const hashes = Object.fromEntries(ROLES.map((role) => [`TRACKER_${role}_SHA256`, hash]));

const pair = await forThisFile(EnginePair.start({ usersFile: CLUSTER_USERS, environment: hashes }));
for (const { url } of pair.engines) {
  await migrateClickhouse({ url });
  const client = openClickhouse({ url, applicationName: "test" });
  for (const table of DISTRIBUTED_TABLES)
    await client.command({
      query: `create table ${table}_all as ${table}
        engine = Distributed('${CLUSTER}', currentDatabase(), '${table}', _lane)`,
    });
  await client.command({
    query: `insert into click (workspace_id, ts, click_id, link_type, status, currency)
      values (${SCOPE.workspaceId}, fromUnixTimestamp64Milli(${AT_MS}, 'UTC'), unhex('${CLICK_ID}'), 'affiliate', 'redirect', 'EUR')`,
  });
  await client.close();
}

/** The answer of a Postgres that has noted no server yet. */
const NO_ROWS = { rows: [], rowCount: 0, command: "SELECT", oid: 0, fields: [] };

function urlOf(role: "reader" | "writer"): string {
  const url = new URL(pair.engines[0].url);
  url.username = `tracker_${role}`;
  url.password = password;
  return url.toString();
}

async function clientOf(role: "reader" | "writer"): Promise<Clickhouse> {
  const options = { url: urlOf(role), cluster: CLUSTER, applicationName: "test" };
  return await forThisFile(openClickhouse(options));
}

const reader = await clientOf("reader");
const writer = await clientOf("writer");

test("the reader's login of a cluster reads reports, lists and single clicks of all shards", async () => {
  const request = parseReportRequest(
    { from: "2025-02-03", to: "2025-02-03", tz: "UTC", metrics: "clicks", filters: [] },
    { role: "staff", nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  const plan = { ...request, scope: SCOPE, managers: undefined, costRates: undefined };
  const { text, params } = compileReport(plan, reader.cluster);
  const answer = await reader.query({
    query: text,
    query_params: params,
    format: "JSONEachRow",
    clickhouse_settings: { readonly: "2" },
  });
  expect(await answer.json()).toMatchObject([{ metrics: ["2"] }]);
  const money = { range: request.range, currency: "USD", dateBasis: "conversion" } as const;
  expect(
    await readMoneyDays(reader, SCOPE, { ...money, comparison: undefined, converts: true }),
  ).toEqual([]);
  const search = { scope: SCOPE, fromMs: AT_MS, toMs: AT_MS, filters: [], after: undefined };
  const rows = await selectClicks(reader, ListedClick, { ...search, limit: 10 });
  // Both shards have the click with this id, as two replicas would.
  expect(rows.map(({ click_id }) => click_id)).toEqual([CLICK_ID]);
  const unknown = await selectClick(reader, SCOPE.workspaceId, {
    clickId: "f".repeat(32),
    isOld: false,
  });
  expect(unknown).toBeUndefined();
});

test("the writer's login of a cluster looks clicks up in a quorum of each shard", async () => {
  const stored = new StoredClicks(writer, { workspaces: new Map([[SCOPE.workspaceId, true]]) });
  expect(await stored.find("f".repeat(32), AT_MS)).toBeUndefined();
  const adClicks = new StoredAdClicks(writer, { flushesMax: 1 });
  const search = { workspaceIds: [SCOPE.workspaceId], offerId: 0 };
  expect(await adClicks.find({ kind: "gclid", value: "unknown", ...search })).toEqual([]);
});

test("the writer's login of a cluster finds the nodes and reads the positions on each", async () => {
  const server = { url: urlOf("writer"), cluster: CLUSTER };
  const options = { applicationName: "test", connectionsMax: 2 };
  const nodes = await forThisFile(new NodeDirectory(server, options));
  const found = await nodes.answering();
  expect(found.map(({ home, shard }) => ({ home, shard }))).toEqual([
    { home: "1-a", shard: "1" },
    { home: "2-a", shard: "2" },
  ]);
  for (const { node } of found)
    expect(await selectStoredPositions(node, CLICK_TABLE, 0)).toMatchObject([{ count: 1 }]);
});

test("the writer's login of a cluster reads all shards, checks the nodes and looks for old clicks", async () => {
  expect(await selectStoredPositions(writer, CLICK_TABLE, 0)).toMatchObject([{ count: 2 }]);
  const sources = { durability: RELAXED, clickhouse: writer };
  const [, replicas] = await findingsOf(CLICKHOUSE_CHECKS, sources, 60_000);
  expect(replicas).toEqual({ check: CLICKHOUSE_CHECKS[1], faults: [] });
  const erased = new Map<string, string>();
  const options = { days: 31, nowMs: Date.UTC(2025, 5, 1), erased };
  expect(await eraseOldClicks(writer, options)).toBe(0);
  expect([...erased.keys()]).toEqual(["202502"]);
});

test("nodes with one host name are counted and noted as the nodes that they are (G263)", async () => {
  const [one, other] = pair.engines.map(({ url }) => new URL(url));
  const names = await Promise.all(
    [one, other].map(async (node) => {
      const url = new URL(urlOf("writer"));
      url.host = node?.host ?? "";
      const options = { url: url.toString(), cluster: CLUSTER, applicationName: "test" };
      const client = openClickhouse(options);
      const db = { query: async () => await Promise.resolve(NO_ROWS) };
      const starts = await listStarts(db, client);
      await client.close();
      return starts.map(({ server }) => server);
    }),
  );
  expect(names[0]?.[1]).toBe(`clickhouse ${hostname()} 1-a`);
  expect(names[1]?.[1]).toBe(`clickhouse ${hostname()} 2-a`);
  const { cluster } = await askClickhouse(reader, 10_000);
  expect(cluster).toMatchObject({ nodes: 2, answering: 2 });
});

test.each([
  ["inserts a click", "insert into click (_lane) values (1)"],
  ["changes clicks", "alter table click update visitor = 0 where 0"],
  ["drops a table", "drop table insert_trial"],
])("the reader's login of a cluster never %s", async (_what, query) => {
  await expect(reader.command({ query })).rejects.toThrow(/Not enough privileges/);
});

test("the logins of a cluster are those of one server, with rights on other nodes", () => {
  const [alone, cluster] = ["users.xml", "cluster-users.xml"].map((name) =>
    readFileSync(projectFile("deploy", "servers", "clickhouse", name), "utf8")
      .split("-->\n")
      .slice(1)
      .join("")
      .split("\n"),
  );
  const more = cluster?.filter((line) => alone?.includes(line) !== true) ?? [];
  expect(cluster?.filter((line) => !more.includes(line)).length).toBe(
    // The writer has SELECT on system.clusters as well, the reader on that and system.replicas: lines that the migrating login already has.
    (alone?.length ?? 0) + 3,
  );
  expect([...new Set(more.map((line) => line.trim()))]).toEqual([
    "<query>GRANT TABLE ENGINE ON ReplicatedMergeTree</query>",
    "<query>GRANT TABLE ENGINE ON ReplicatedReplacingMergeTree</query>",
    "<query>GRANT TABLE ENGINE ON Distributed</query>",
    "<query>GRANT READ ON REMOTE</query>",
    "<query>GRANT CLUSTER ON *.*</query>",
    "<query>GRANT SYSTEM SYNC REPLICA ON tracker.*</query>",
  ]);
});

test("a node takes its place, its secrets and the other nodes from the environment", async () => {
  const Variables = z.array(z.string()).min(10);
  const names = Variables.parse([
    ...new Set(
      [...readFileSync(CLUSTER_CONFIG, "utf8").matchAll(/from_env="(\w+)"/g)].map(
        ([, name]) => name,
      ),
    ),
  ]);
  const dataDir = await mkdtemp(join(tmpdir(), "tracker-cluster-config-"));
  const folder = join(dataDir, "clickhouse", "config.d");
  await mkdir(folder, { recursive: true });
  await copyFile(CLUSTER_CONFIG, join(folder, "cluster.xml"));
  const environment = Object.fromEntries(names.map((name) => [name, `of-${name.toLowerCase()}`]));
  const bind = "127.0.0.1";
  const port = await pickPort(bind);
  const options = { dataDir, port, bind, runtimeDir: runtimeDir(), report: testReport() };
  const engine = await startClickhouse({ ...options, environment });
  const client = openClickhouse({ url: engine.url, applicationName: "test" });
  try {
    const answer = await client.query({
      query: `select getMacro('shard') as shard, getMacro('replica') as replica,
        (select groupArray(host_name) from system.clusters where cluster = 'tracker') as hosts,
        (select uniqExact(cluster) from system.clusters) as clusters`,
      format: "JSONEachRow",
    });
    expect(await answer.json()).toEqual([
      {
        shard: "of-clickhouse_shard",
        replica: "of-clickhouse_replica",
        hosts: [1, 2, 3].map((node) => `of-clickhouse_node_${node}`),
        clusters: 1,
      },
    ]);
  } finally {
    await client.close();
    await engine.stop();
    await rm(dataDir, { recursive: true });
  }
});
