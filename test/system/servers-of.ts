import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ServerUrls } from "../services/servers.ts";

const Servers = z.object({
  postgres_url: z.string(),
  nats_url: z.string(),
  clickhouse_url: z.string(),
});

/** Addresses of the stores of a running one-machine service, whether it started them or got their URLs. */
export async function serversOf({ dataDir }: { readonly dataDir: string }): Promise<ServerUrls> {
  const file = await readFile(join(dataDir, "servers.json"), "utf8");
  const urls = Servers.parse(JSON.parse(file));
  return { postgres: urls.postgres_url, nats: urls.nats_url, clickhouse: urls.clickhouse_url };
}
