import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { freshDatabase } from "../services/fresh-database.ts";
import type { ServerUrls } from "../services/servers.ts";
import { readClickhouseSchema } from "./clickhouse-schema.ts";
import { readPostgresSchema } from "./postgres-schema.ts";

export const SCHEMA_FILES = {
  postgres: projectFile("schemas", "postgres", "schema.sql"),
  clickhouse: projectFile("schemas", "clickhouse", "schema.sql"),
} as const;

/** Printed by the test when a file differs from what the migrations create. While a store has one migration, it has no file. */
export const DUMP_COMMAND = "npm run schema:dump";

const HEAD = `-- What all migrations together make, to be read and never run. Written by \`${DUMP_COMMAND}\`; a test compares it.\n\n`;

/** The text of both files, from databases made for this on these servers: by the migrations, or as copies of a template. */
export async function dumpSchemas(
  servers: Omit<ServerUrls, "nats">,
  template?: string,
): Promise<Record<keyof typeof SCHEMA_FILES, string>> {
  const database = await freshDatabase({ label: "schema", servers, template });
  const pool = openPool({ url: database.postgresUrl, applicationName: "test", connectionsMax: 2 });
  const clickhouse = openClickhouse({ url: database.clickhouseUrl, applicationName: "test" });
  try {
    if (template === undefined) {
      await migratePostgres(pool);
      await migrateClickhouse({ url: database.clickhouseUrl });
    }
    return {
      postgres: HEAD + (await readPostgresSchema(pool)),
      clickhouse: HEAD + (await readClickhouseSchema(clickhouse, database.clickhouseUrl)),
    };
  } finally {
    await pool.end();
    await clickhouse.close();
    await database.drop();
  }
}
