import { once } from "node:events";
import { createServer } from "node:net";
import { expect, inject, test } from "vitest";
import { reachServers } from "../../../../deploy/local/server-set.ts";
import { freshDatabase } from "../../../services/fresh-database.ts";
import { serverUrls } from "../../../services/stores.ts";
import { startSystem } from "../../../system/start-system.ts";

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

test("a NATS server at an IPv6 address is reached", async () => {
  const info = JSON.stringify({ server_name: "one", version: "2.10.0", jetstream: true });
  const server = createServer((socket) => socket.end(`INFO ${info}\r\n`)).listen(0, "::1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  try {
    const servers = { postgresUrl: undefined, clickhouseUrl: undefined };
    const reached = reachServers({ ...servers, natsUrl: `nats://[::1]:${port}` });
    await expect(reached).resolves.toBeUndefined();
  } finally {
    server.close();
  }
});
