import type { TestProject } from "vitest/node";
import { useRunServers } from "./run-servers.ts";

declare module "vitest" {
  /** The values that tests `inject`. All tests share these servers, so each makes databases of its own: see stores.ts. */
  interface ProvidedContext {
    postgresUrl: string;
    /** The URL of the PgBouncer in front of Postgres with TEST_PGBOUNCER=1, else the same URL. */
    poolerUrl: string;
    natsUrl: string;
    clickhouseUrl: string;
    /** A migrated database, to be copied. */
    template: string;
  }
}

/** Gives a project the three servers of the run. Returns a function that lets them go. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { servers, stop } = await useRunServers();
  project.provide("postgresUrl", servers.urls.postgres);
  project.provide("poolerUrl", servers.poolerUrl);
  project.provide("natsUrl", servers.urls.nats);
  project.provide("clickhouseUrl", servers.urls.clickhouse);
  project.provide("template", servers.template);
  return stop;
}
