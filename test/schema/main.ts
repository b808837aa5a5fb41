/** `npm run schema:dump` writes schemas/postgres/schema.sql and schemas/clickhouse/schema.sql, each once its store has several migrations. */
import { writeFileSync } from "node:fs";
import { migrationFiles, STORES } from "../../schemas/versions/migration-files.ts";
import { startServers } from "../services/servers.ts";
import { dumpSchemas, SCHEMA_FILES } from "./schema-files.ts";

const servers = await startServers({ need: ["postgres", "clickhouse"] });
try {
  const made = await dumpSchemas(servers.urls);
  for (const store of STORES)
    if (migrationFiles(store).length > 1) writeFileSync(SCHEMA_FILES[store], made[store]);
} finally {
  await servers.stop();
}
