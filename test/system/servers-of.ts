import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { System } from "./start-system.ts";

const Servers = z.object({
  postgres_url: z.string(),
  nats_url: z.string(),
  clickhouse_url: z.string(),
});

/** Addresses of the stores behind a running service, started by it or given to it. */
export async function serversOf({
  dataDir,
}: Pick<System, "dataDir">): Promise<{ postgres: string; nats: string; clickhouse: string }> {
  const file = await readFile(join(dataDir, "servers.json"), "utf8");
  const { postgres_url, nats_url, clickhouse_url } = Servers.parse(JSON.parse(file));
  return { postgres: postgres_url, nats: nats_url, clickhouse: clickhouse_url };
}
