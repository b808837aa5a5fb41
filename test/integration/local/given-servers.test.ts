import { expect, inject, test } from "vitest";
import { freshDatabase } from "../../services/fresh-database.ts";
import { serverUrls } from "../../services/stores.ts";
import { startSystem } from "../../system/start-system.ts";

test("with all three server URLs given, no server is started", async () => {
  const database = await freshDatabase({ label: "given_servers", servers: serverUrls() });
  try {
    await using system = await startSystem({
      env: {
        POSTGRES_URL: database.postgresUrl,
        CLICKHOUSE_URL: database.clickhouseUrl,
        NATS_URL: inject("natsUrl"),
        NATS_PREFIX: database.name,
      },
    });
    expect(system.output()).not.toMatch(/making a new database cluster/);
    expect(await system.stop()).toBe(0);
  } finally {
    await database.drop();
  }
}, 120_000);
