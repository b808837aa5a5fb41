import { inject } from "vitest";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { type Log, openLog } from "../../schemas/host/log.ts";
import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { openPool, type Pool, type Queryable } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { type FreshDatabase, freshDatabase } from "./fresh-database.ts";
import type { ServerUrls, Template } from "./servers.ts";

export type StoresOptions = {
  /** Lower-case letters and digits. Part of the databases' names, so that a leftover database shows its test. */
  readonly label: string;
  /** By default the servers of the run (test/services/global-setup.ts). */
  readonly servers?: (ServerUrls & Template) | undefined;
};

/** The parts of a {@link Stores}. */
export type OpenStores = Pick<Stores, "database" | "pool" | "clickhouse" | "nats"> & {
  readonly natsUrl: string;
};

/** Migrated databases and a NATS prefix for one test, with connections to them. Fixtures of tests extend it. */
export class Stores {
  readonly database: FreshDatabase;
  readonly pool: Pool;
  readonly clickhouse: Clickhouse;
  /** Its prefix is the name of the databases. */
  readonly nats: Nats;
  /** Settings for a process that uses these stores. */
  readonly env: Readonly<
    Record<
      "POSTGRES_URL" | "POSTGRES_DIRECT_URL" | "CLICKHOUSE_URL" | "NATS_URL" | "NATS_PREFIX",
      string
    >
  >;
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor({ database, pool, clickhouse, nats, natsUrl }: OpenStores) {
    this.database = database;
    this.pool = pool;
    this.clickhouse = clickhouse;
    this.nats = nats;
    this.env = {
      POSTGRES_URL: database.postgresUrl,
      POSTGRES_DIRECT_URL: database.postgresDirectUrl,
      CLICKHOUSE_URL: database.clickhouseUrl,
      NATS_URL: natsUrl,
      NATS_PREFIX: nats.prefix,
    };
  }

  /** Registers a function that {@link close} runs first; the newest runs before older ones. */
  atEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  async rows<Row extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return (await this.pool.query<Row>({ text, values })).rows;
  }

  /** Rows from ClickHouse. */
  async facts<Row>(query: string, params: Record<string, unknown> = {}): Promise<Row[]> {
    const answer = await this.clickhouse.query({
      query,
      query_params: params,
      format: "JSONEachRow",
    });
    return await answer.json<Row>();
  }

  /** Inserts one row with these columns and returns its ID. Objects are stored as JSON, arrays as arrays. */
  async insert(table: string, columns: Readonly<Record<string, unknown>>): Promise<number> {
    return await insertRow(this.pool, table, columns);
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    await this.nats.connection.close();
    await this.clickhouse.close();
    await this.pool.end();
    await this.database.drop();
  }
}

/** Tables are copied from the template of the run or of the servers; without one the migrations make them. */
export async function openStores({ label, servers }: StoresOptions): Promise<OpenStores> {
  const urls = servers ?? serverUrls();
  const template = servers === undefined ? inject("template") : servers.template;
  const pooler = servers === undefined ? inject("poolerUrl") : undefined;
  const database = await freshDatabase({ label, servers: urls, pooler, template });
  const pool = openPool({ url: database.postgresUrl, applicationName: "test" });
  if (template === undefined)
    await Promise.all([migratePostgres(pool), migrateClickhouse({ url: database.clickhouseUrl })]);
  const clickhouse = openClickhouse({ url: database.clickhouseUrl, applicationName: "test" });
  const nats = await connectNats({ url: urls.nats, name: "test", prefix: database.name });
  return { database, pool, clickhouse, nats, natsUrl: urls.nats };
}

/** The servers that test/services/global-setup.ts has started or found. */
export function serverUrls(): ServerUrls {
  return {
    postgres: inject("postgresUrl"),
    nats: inject("natsUrl"),
    clickhouse: inject("clickhouseUrl"),
  };
}

/** {@link Stores.insert} for a test that has only a connection. */
export async function insertRow(
  db: Queryable,
  table: string,
  columns: Readonly<Record<string, unknown>>,
): Promise<number> {
  const names = Object.keys(columns);
  const { rows } = await db.query<{ id: number }>({
    text: `insert into ${table} (${names.join(", ")}) values (${names.map((_, i) => `$${i + 1}`).join(", ")})
           returning id`,
    values: Object.values(columns).map((value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? JSON.stringify(value)
        : value,
    ),
  });
  return rows[0]?.id ?? 0;
}

/** Silent unless TEST_LOG_LEVEL is set. */
export function testLog(): Log {
  return openLog({ process: "test", level: process.env["TEST_LOG_LEVEL"] ?? "silent" });
}
