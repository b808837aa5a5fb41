import { isDeepStrictEqual } from "node:util";
import type { ClickHouseSettings } from "@clickhouse/client";
import {
  type AppliedMigration,
  assertNotTooNew,
  assertSameBeginning,
  assertUsable,
} from "../versions/judge-schema.ts";
import { type MigrationFile, migrationFiles, statementsOf } from "../versions/migration-files.ts";
import { ClusterNodes } from "./cluster.ts";
import { confirmInserts } from "./confirm-inserts.ts";
import { type Clickhouse, openClickhouse } from "./connect.ts";
import { ensureEverywhere, makeMissingTables } from "./ensure-everywhere.ts";
import { clickhouseCode } from "./errors.ts";
import { type ClusterPlace, clusterForm, DISTRIBUTED_TABLES, distributedTable } from "./layout.ts";
import { type ClickhouseServer, clickhouseDatabase, seedUrls } from "./server.ts";

const APPLICATION_NAME = "tracker migrate";
/** A migration may rewrite a column. */
const STATEMENT_MS_MAX = 600_000;
const UNKNOWN_TABLE = "60";
const UNKNOWN_DATABASE = "81";
/** A statement of a cluster ends when every replica has applied it, or it fails. */
const ON_CLUSTER: ClickHouseSettings = {
  distributed_ddl_task_timeout: String(STATEMENT_MS_MAX / 1_000),
  distributed_ddl_output_mode: "throw",
  alter_sync: "2",
};

export type MigrateOptions = {
  /**
   * With this function, files that remove something are applied too. It runs `work` once no process runs that needs what `file` removes,
   * and no such process can start until `work` is done.
   */
  readonly withoutOlder?: (file: MigrationFile, work: () => Promise<void>) => Promise<void>;
  readonly files?: readonly MigrationFile[];
  /** Part of the paths in Keeper. Required for a cluster. */
  readonly installation?: string | undefined;
};

export type Migrated = {
  /** Names of the files that were applied. */
  readonly applied: readonly string[];
  /** Names of the files that remove something and were left out. */
  readonly left: readonly string[];
  /** Of a cluster: tables that a node lacked, as `table on host`. */
  readonly made?: readonly string[];
  /** Of these, tables that still copy rows, which Keeper does not know yet (confirm-inserts.ts). */
  readonly behind?: readonly string[];
};

/** A client, and the place of its cluster. */
type Target = { readonly client: Clickhouse; readonly place: ClusterPlace | undefined };

/**
 * Creates the database and applies missing migrations in order. ClickHouse has no transactions, so every statement of a migration is
 * idempotent, and a migration counts as applied only after its last statement. Files that remove something are left out, except with
 * `withoutOlder` or in an empty database. On a cluster it first makes the tables that a new or rebuilt node lacks, as the other nodes have
 * them: once later migrations have changed these tables, the first migration would make other tables than Keeper knows.
 *
 * @throws {OtherSchemaError} when the schema is not for this release, and an Error while a node of the cluster is away.
 */
export async function migrateClickhouse(
  given: ClickhouseServer,
  options: MigrateOptions = {},
): Promise<Migrated> {
  const { files = migrationFiles("clickhouse") } = options;
  const place = placeOf(given, options);
  if (place === undefined) {
    await refuseOtherBeginning(given, files);
    return await migrateServer(given, options);
  }
  await refuseNodes(given, files);
  await createDatabase(given, place);
  const madeBefore = await withNodes(given, async (nodes) => {
    for (const { client } of nodes) await assertLayout(client);
    return await makeMissingTables(nodes);
  });
  const migrated = await migrateServer(given, options, place);
  const made = [...madeBefore, ...(await withNodes(given, ensureEverywhere))];
  const behind = await withNodes(given, (nodes) => confirmInserts(nodes, madeBefore));
  return { ...migrated, made, behind };
}

async function migrateServer(
  given: ClickhouseServer,
  { withoutOlder, files = migrationFiles("clickhouse") }: MigrateOptions,
  place?: ClusterPlace,
): Promise<Pick<Migrated, "applied" | "left">> {
  await createDatabase(given, place);
  const client = openClickhouse({
    ...given,
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: STATEMENT_MS_MAX,
  });
  const target = { client, place };
  try {
    await assertLayout(client);
    await apply(target, PREPARATION);
    const before = await notedMigrations(client);
    assertNotTooNew("clickhouse", files, before);
    const present = new Set(before.filter((one) => one.isApplied).map(({ number }) => number));
    const applied: string[] = [];
    const left: string[] = [];
    for (const file of files.filter(({ number }) => !present.has(number))) {
      if (file.kind === "contract" && before.length > 0) {
        if (withoutOlder === undefined) {
          left.push(file.name);
          continue;
        }
        // From here on no older process starts, also if this process dies before the statements are done.
        await withoutOlder(file, async () => {
          await note(target, file, false);
        });
      }
      await applyStatements(target, file);
      await note(target, file, true);
      applied.push(file.name);
    }
    if (place !== undefined) await distribute(target);
    return { applied, left };
  } finally {
    await client.close();
  }
}

/** Refuses a schema that this release cannot use. @throws {OtherSchemaError} or an Error that says to run the migration. */
export async function assertClickhouseMigrated(client: Clickhouse): Promise<void> {
  await assertLayout(client);
  const files = migrationFiles("clickhouse");
  assertSameBeginning("clickhouse", files, await firstMigration(client));
  const noted = await notedMigrations(client);
  assertNotTooNew("clickhouse", files, noted);
  assertUsable(
    "clickhouse",
    files,
    noted.filter(({ isApplied }) => isApplied),
  );
}

/** A process with the other layout would count one shard as all rows, or wait for replicas that do not exist. */
async function assertLayout(client: Clickhouse): Promise<void> {
  const answer = await client.query({
    query: `select startsWith(engine, 'Replicated') as isReplicated from system.tables
      where database = currentDatabase() and name = 'schema_migration'`,
    format: "JSONEachRow",
  });
  const [table] = await answer.json<{ isReplicated: number }>();
  if (table === undefined) return;
  const [is, wanted] = table.isReplicated === 1 ? ["cluster", "single"] : ["single", "cluster"];
  if ((client.cluster === undefined) === (is === "cluster"))
    throw new Error(
      `CLICKHOUSE_LAYOUT is ${wanted}, but the ClickHouse database was made for ${is}: set CLICKHOUSE_LAYOUT=${is}`,
    );
}

function placeOf(
  { cluster }: ClickhouseServer,
  { installation }: MigrateOptions,
): ClusterPlace | undefined {
  if (cluster === undefined) return undefined;
  if (installation === undefined) throw new Error("a cluster needs the name of its installation");
  return { cluster, installation };
}

/** Refuses data of a commit before the first release, before anything is written. @throws {OtherSchemaError} */
async function refuseOtherBeginning(
  given: ClickhouseServer,
  files: readonly MigrationFile[],
): Promise<void> {
  // The database may not exist yet.
  const url = serverUrl(given.url);
  const client = openClickhouse({ ...given, url, applicationName: APPLICATION_NAME });
  try {
    const first = await firstMigration(client, clickhouseDatabase(given.url));
    assertSameBeginning("clickhouse", files, first);
  } finally {
    await client.close();
  }
}

/**
 * Looks at every node before anything is written. A statement for the cluster would wait for a node that is away, and a table that it misses
 * would lack rows.
 */
async function refuseNodes(
  given: ClickhouseServer,
  files: readonly MigrationFile[],
): Promise<void> {
  // The database may not exist yet.
  const url = seedUrls(given.url).map(serverUrl).join(",");
  const nodes = await ClusterNodes.open({ ...given, url }, { applicationName: APPLICATION_NAME });
  try {
    const { away } = nodes;
    if (away.length > 0)
      throw new Error(
        `the ClickHouse nodes ${away.join(", ")} do not answer: start them or remove them from remote_servers, then run \`tracker migrate\` again`,
      );
    for (const { client } of nodes.clients()) {
      const first = await firstMigration(client, clickhouseDatabase(given.url));
      assertSameBeginning("clickhouse", files, first);
    }
  } finally {
    await nodes.close();
  }
}

async function withNodes<Result>(
  given: ClickhouseServer,
  work: (nodes: ReturnType<ClusterNodes["clients"]>) => Promise<Result>,
): Promise<Result> {
  const nodes = await ClusterNodes.open(given, {
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: STATEMENT_MS_MAX,
  });
  try {
    return await work(nodes.clients());
  } finally {
    await nodes.close();
  }
}

/** Makes the tables over all shards, and gives them the columns that migrations have added since. */
async function distribute({ client, place }: Target): Promise<void> {
  if (place === undefined) return;
  for (const table of DISTRIBUTED_TABLES) {
    const answer = await client.query({
      query: `select table, groupArray((name, type)) as columns from (
          select table, name, type from system.columns
          where database = currentDatabase() and table in ({table: String}, {all: String}) order by table, position)
        group by table`,
      query_params: { table, all: `${table}_all` },
      format: "JSONEachRow",
    });
    const [one, other] = await answer.json<{ columns: unknown }>();
    if (other !== undefined && isDeepStrictEqual(one?.columns, other.columns)) continue;
    await client.command({
      query: distributedTable(table, place),
      clickhouse_settings: ON_CLUSTER,
    });
  }
}

async function createDatabase(given: ClickhouseServer, place?: ClusterPlace): Promise<void> {
  const [first = ""] = seedUrls(given.url);
  const client = openClickhouse({
    ...given,
    url: serverUrl(first),
    applicationName: APPLICATION_NAME,
  });
  try {
    await client.command({
      query: `create database if not exists {database: Identifier}${place === undefined ? "" : ` on cluster '${place.cluster}'`}`,
      query_params: { database: clickhouseDatabase(given.url) },
    });
  } finally {
    await client.close();
  }
}

/** Before the first migration. */
export const PREPARATION = `create table if not exists schema_migration
(
  number UInt32,
  name String,
  applied_at DateTime default now(),
  oldest_reader UInt32 default number,
  is_applied Bool default true
)
engine = ReplacingMergeTree
order by number`;

/** Of the server, without the database. */
function serverUrl(url: string): string {
  const server = new URL(url);
  server.pathname = "/";
  return server.toString();
}

async function applyStatements(target: Target, file: MigrationFile): Promise<void> {
  for (const { setting, statement } of migrationStatements(file)) {
    if (setting === undefined || (await hasSetting(target.client, setting)))
      await apply(target, statement);
  }
}

async function apply({ client, place }: Target, statement: string): Promise<void> {
  if (place === undefined) await client.command({ query: statement });
  else
    await client.command({
      query: clusterForm(statement, place),
      clickhouse_settings: ON_CLUSTER,
    });
}

/** The statements of a file for a server alone, and the setting of MergeTree that a server must know to have one. */
export function migrationStatements({
  sql,
}: Pick<MigrationFile, "sql">): { readonly statement: string; readonly setting?: string }[] {
  return statementsOf(sql).map((text) => {
    const setting = REQUIRED_SETTING.exec(text)?.[1];
    const statement = text.replace(/^\s*--.*$/gm, "").trim();
    return setting === undefined ? { statement } : { statement, setting };
  });
}

async function note(
  { client }: Target,
  { number, name, oldestReader }: MigrationFile,
  isApplied: boolean,
): Promise<void> {
  await client.insert({
    table: "schema_migration",
    values: [{ number, name, oldest_reader: oldestReader, is_applied: isApplied }],
    format: "JSONEachRow",
  });
}

type NotedMigration = AppliedMigration & {
  /** False while a migration that removes something has only been announced. */
  readonly isApplied: boolean;
};

/** The name of the migration that made the schema; undefined without a schema. `database`: if it is not the client's. */
async function firstMigration(client: Clickhouse, database?: string): Promise<string | undefined> {
  const table =
    database === undefined ? "schema_migration" : "{database: Identifier}.schema_migration";
  try {
    const answer = await client.query({
      query: `select name from ${table} where number = 1 limit 1`,
      ...(database !== undefined && { query_params: { database } }),
      format: "JSONEachRow",
    });
    return (await answer.json<{ name: string }>())[0]?.name;
  } catch (error) {
    const code = clickhouseCode(error);
    if (code === UNKNOWN_TABLE || code === UNKNOWN_DATABASE) return undefined;
    throw error;
  }
}

async function notedMigrations(client: Clickhouse): Promise<NotedMigration[]> {
  try {
    const answer = await client.query({
      query: `select number, max(oldest_reader) as "oldestReader", max(is_applied) as "isApplied"
              from schema_migration group by number order by number`,
      format: "JSONEachRow",
    });
    return await answer.json<NotedMigration>();
  } catch (error) {
    if (clickhouseCode(error) === UNKNOWN_TABLE) return [];
    throw error;
  }
}

async function hasSetting(client: Clickhouse, setting: string): Promise<boolean> {
  const answer = await client.query({
    query: "select name from system.merge_tree_settings where name = {setting: String}",
    query_params: { setting },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}

/** A setting of MergeTree that the statement uses. On servers that do not know it the statement is left out. */
const REQUIRED_SETTING = /^-- requires setting: (\w+)$/m;
