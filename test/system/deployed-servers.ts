import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Servers = z.object({
  postgres_url: z.string(),
  nats_url: z.string(),
  clickhouse_url: z.string(),
});

export type ServerUrls = {
  readonly postgres: string;
  readonly nats: string;
  readonly clickhouse: string;
};

/** The servers that a running one-machine service works with. */
export async function deployedServers(dataDir: string): Promise<ServerUrls> {
  const file = await readFile(join(dataDir, "servers.json"), "utf8");
  const urls = Servers.parse(JSON.parse(file));
  return { postgres: urls.postgres_url, nats: urls.nats_url, clickhouse: urls.clickhouse_url };
}
