import { describe, expect, test } from "vitest";
import { findingsOf } from "../../../schemas/checks/check.ts";
import { CLICKHOUSE_CHECKS } from "../../../schemas/checks/clickhouse-checks.ts";
import { ClusterNodes } from "../../../schemas/clickhouse/cluster.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { ensureEverywhere } from "../../../schemas/clickhouse/ensure-everywhere.ts";
import {
  clusterForm,
  DISTRIBUTED_TABLES,
  distributedTable,
} from "../../../schemas/clickhouse/layout.ts";
import {
  assertClickhouseMigrated,
  migrateClickhouse,
  migrationStatements,
  PREPARATION,
} from "../../../schemas/clickhouse/migrate.ts";
import { migrationFiles } from "../../../schemas/versions/migration-files.ts";
import { RELAXED } from "../../samples/durability.ts";
import { readClickhouseSchema } from "../../schema/clickhouse-schema.ts";
import { CLUSTER, EnginePair, withDatabase } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";

const PLACE = { cluster: CLUSTER, installation: "8f14e45f-ceea-467f-a0e6-d2b5d6a7c9b1" };

const single = migrationFiles("clickhouse").flatMap((file) =>
  migrationStatements(file).map(({ statement }) => statement),
);
const statements = [PREPARATION, ...single];
const cluster = [
  ...statements.map((statement) => clusterForm(statement, PLACE)),
  ...DISTRIBUTED_TABLES.map((table) => distributedTable(table, PLACE)),
];

const pair = await forThisFile(EnginePair.start());
const [first, second] = pair.engines;

test("the statements of a cluster equal the golden file", async () => {
  await expect(sqlOf(cluster)).toMatchFileSnapshot("clickhouse-ddl/cluster.sql");
});

function sqlOf(list: readonly string[]): string {
  return `${list.map((statement) => `${statement};`).join("\n\n")}\n`;
}

test("a server reads every statement of a cluster, each of them for the whole cluster", async () => {
  const client = openClickhouse({ url: first.url, applicationName: "test" });
  const alone: string[] = [];
  try {
    for (const statement of cluster) {
      const [parsed, formatted] = await Promise.all([
        textOf(client, `explain ast ${statement}`),
        formattedBy(client, statement),
      ]);
      expect(parsed).toMatch(/^(Create|Alter)Query/);
      expect(formatted).toContain(`ON CLUSTER ${CLUSTER}`);
      const [, table, engine] =
        /CREATE TABLE IF NOT EXISTS (\w+) .*ENGINE = (\w+)/s.exec(formatted) ?? [];
      if (table !== undefined && engine?.startsWith("Replicated") !== true) alone.push(table);
    }
    expect(alone).toEqual(["lane_fence"]);
  } finally {
    await client.close();
  }
});

async function textOf(client: Clickhouse, query: string): Promise<string> {
  const answer = await client.query({ query, format: "TabSeparatedRaw" });
  return await answer.text();
}

async function formattedBy(client: Clickhouse, statement: string): Promise<string> {
  const answer = await client.query({
    query: "select formatQuery({statement: String}) as text",
    query_params: { statement },
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ text: string }>();
  return row?.text ?? "";
}

test("the migrations of a server alone make the same when they run twice", async () => {
  const url = withDatabase(first.url, "test_twice");
  const { applied, left } = await migrateClickhouse({ url });
  expect([applied.length, left]).toEqual([migrationFiles("clickhouse").length, []]);
  const client = openClickhouse({ url, applicationName: "test" });
  try {
    const schema = await readClickhouseSchema(client, url);
    for (const statement of statements) await client.command({ query: statement });
    expect(await migrateClickhouse({ url })).toEqual({ applied: [], left: [] });
    expect(await readClickhouseSchema(client, url)).toBe(schema);
  } finally {
    await client.close();
  }
});

test("a table that one node lacks is made as on the others, and twice is once", async () => {
  const database = "test_everywhere";
  const server = { url: pair.urlOf(database), cluster: CLUSTER };
  await pair.createDatabase(database);
  await migrateClickhouse({ url: withDatabase(first.url, database) });
  const nodes = await ClusterNodes.open(server, { applicationName: "test" });
  try {
    const made = await ensureEverywhere(nodes.clients());
    expect(made).toContain("click on 127.0.0.2");
    expect(await ensureEverywhere(nodes.clients())).toEqual([]);
    const schemas = await Promise.all(
      nodes.clients().map(({ client }) => readClickhouseSchema(client, `http://x/${database}`)),
    );
    expect(schemas[1]).toBe(schemas[0]);
    expect(schemas[0]).toContain("CREATE TABLE click\n");
    await nodes.clientOf("2-a")?.command({ query: "alter table lane_fence add column x UInt8" });
    await expect(ensureEverywhere(nodes.clients())).rejects.toThrow(
      /lane_fence on 127\.0\.0\.1 and on 127\.0\.0\.2\. Drop the wrong one/,
    );
  } finally {
    await nodes.close();
  }
});

test("the nodes of a cluster are found from one of them, each with its own client and name", async () => {
  const server = { url: pair.urlOf("default"), cluster: CLUSTER };
  const nodes = await ClusterNodes.open(server, { applicationName: "test" });
  try {
    expect(nodes.all.map(({ shard, home }) => [shard, home])).toEqual([
      [1, "1-a"],
      [2, "2-a"],
    ]);
    expect(nodes.away).toEqual([]);
    const found = nodes.clientOf("2-a");
    const answer = await found?.query({
      query: "select getMacro('shard') as shard",
      format: "JSONEachRow",
    });
    expect(await answer?.json()).toEqual([{ shard: "2" }]);
    expect(nodes.clientOf("3-a")).toBeUndefined();
  } finally {
    await nodes.close();
  }
  await expect(
    ClusterNodes.open({ ...server, cluster: "other" }, { applicationName: "test" }),
  ).rejects.toThrow(/no cluster other in its remote_servers: set CLICKHOUSE_CLUSTER/);
});

test("a process of one layout refuses the database of the other", async () => {
  const url = withDatabase(first.url, "test_other_layout");
  await migrateClickhouse({ url });
  const client = openClickhouse({ url, cluster: CLUSTER, applicationName: "test" });
  try {
    await expect(assertClickhouseMigrated(client)).rejects.toThrow(
      /CLICKHOUSE_LAYOUT is cluster, but the ClickHouse database was made for single/,
    );
  } finally {
    await client.close();
  }
});

test("the checks of a cluster ask all of its nodes, and refuse tables without replicas (P35)", async () => {
  const url = withDatabase(first.url, "test_checks");
  await migrateClickhouse({ url });
  const client = openClickhouse({ url, cluster: CLUSTER, applicationName: "test" });
  try {
    const sources = { durability: RELAXED, clickhouse: client };
    const [tables, replicas] = await findingsOf(CLICKHOUSE_CHECKS, sources, 60_000);
    const sentences = tables?.faults.map(({ sentence }) => sentence) ?? [];
    expect(sentences).toContainEqual(expect.stringMatching(/table click has the engine MergeTree/));
    expect(sentences).toContainEqual(expect.stringMatching(/table click_all does not exist/));
    expect(replicas).toEqual({ check: CLICKHOUSE_CHECKS[1], faults: [] });
  } finally {
    await client.close();
  }
});

describe("a client with several nodes", () => {
  const url = [second, first].map((engine) => engine.url).join(",");
  const shardOf = async (client: Clickhouse): Promise<string> =>
    (await textOf(client, "select getMacro('shard')")).trim();

  test("leaves a frozen node at the next ping", async () => {
    const client = openClickhouse({ url, cluster: CLUSTER, applicationName: "test" });
    try {
      expect(await shardOf(client)).toBe("2");
      process.kill(second.pid, "SIGSTOP");
      expect((await client.ping({ select: true })).success).toBe(false);
      expect(await shardOf(client)).toBe("1");
    } finally {
      process.kill(second.pid, "SIGCONT");
      await client.close();
    }
  });

  test("repeats a query on another node when one is gone", async () => {
    const client = openClickhouse({ url, cluster: CLUSTER, applicationName: "test" });
    try {
      expect(await shardOf(client)).toBe("2");
      await second.stop();
      expect(await shardOf(client)).toBe("1");
      expect((await client.ping({ select: true })).success).toBe(true);
    } finally {
      await client.close();
    }
  });
});

test("a migration refuses to begin while a node of the cluster is away, and names it", async () => {
  const database = "test_away";
  await second.stop();
  await expect(
    migrateClickhouse(
      { url: pair.urlOf(database), cluster: CLUSTER },
      { installation: PLACE.installation },
    ),
  ).rejects.toThrow(/the ClickHouse nodes 127\.0\.0\.2 do not answer: start them/);
  const client = openClickhouse({ url: first.url, applicationName: "test" });
  try {
    const answer = await client.query({
      query: "select name from system.databases where name = {database: String}",
      query_params: { database },
      format: "JSONEachRow",
    });
    expect(await answer.json()).toEqual([]);
  } finally {
    await client.close();
  }
});
