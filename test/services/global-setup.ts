import type { TestProject } from "vitest/node";
import { startServers } from "./servers.ts";

declare module "vitest" {
  /** What every integration test may `inject`. The databases behind the addresses are shared: see fresh-database.ts. */
  interface ProvidedContext {
    postgresUrl: string;
    natsUrl: string;
    clickhouseUrl: string;
  }
}

/** Starts the three servers once for all files of a run, and answers how to end them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = await startServers({ need: ["postgres", "nats", "clickhouse"] });
  project.provide("postgresUrl", servers.urls.postgres);
  project.provide("natsUrl", servers.urls.nats);
  project.provide("clickhouseUrl", servers.urls.clickhouse);
  return () => servers.stop();
}
