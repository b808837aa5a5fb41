/** `npm run schema:dump` writes schemas/postgres/schema.sql and schemas/clickhouse/schema.sql. */
import { writeFileSync } from "node:fs";
import { startServers } from "../services/servers.ts";
import { dumpSchemas, SCHEMA_FILES } from "./schema-files.ts";

const servers = await startServers({ need: ["postgres", "clickhouse"] });
try {
  const { postgres, clickhouse } = await dumpSchemas(servers.urls);
  writeFileSync(SCHEMA_FILES.postgres, postgres);
  writeFileSync(SCHEMA_FILES.clickhouse, clickhouse);
} finally {
  await servers.stop();
}
