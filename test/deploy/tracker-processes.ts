import { portFault } from "../../deploy/local/ports.ts";
import { SECRETS_KEY } from "../samples/secret-keys.ts";
import type { FreshDatabase } from "../services/fresh-database.ts";
import { freePort } from "../system/start-system.ts";
import type { Deployment } from "./first-click.ts";

const WORKERS = 2;

/** The four processes of an installation on a fresh database, on free ports of this machine. */
export async function trackerProcesses({
  database,
  natsUrl,
}: {
  readonly database: Pick<FreshDatabase, "name" | "postgresUrl" | "clickhouseUrl">;
  readonly natsUrl: string;
}): Promise<Omit<Deployment, "start">> {
  const [tracking, api, processorsOps, apiOps] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  // Worker i listens on the port OPS_PORT + i.
  const ingressOps = await freePortsInARow(WORKERS);
  const env = {
    POSTGRES_URL: database.postgresUrl,
    CLICKHOUSE_URL: database.clickhouseUrl,
    NATS_URL: natsUrl,
    NATS_PREFIX: database.name,
    TRACKING_PORT: String(tracking),
    API_PORT: String(api),
    BIND_ADDRESS: "127.0.0.1",
    OPS_BIND: "127.0.0.1",
    DRAIN_SECONDS: "0",
    // The servers of the tests sync nothing.
    DURABILITY: "relaxed",
    WORKERS_OPS_PORT: "0",
  };
  const withOps = (port: number): Record<string, string> => ({ ...env, OPS_PORT: String(port) });
  return {
    migrate: { name: "migrate", args: ["migrate"], env },
    ingress: {
      name: "ingress",
      args: ["ingress", "--workers", String(WORKERS)],
      env: withOps(ingressOps),
      opsPorts: Array.from({ length: WORKERS }, (_, worker) => ingressOps + worker),
    },
    processors: {
      name: "processors",
      args: ["processors"],
      env: withOps(processorsOps),
      opsPorts: [processorsOps],
    },
    api: {
      name: "api",
      args: ["api"],
      env: { ...withOps(apiOps), SECRETS_KEY },
      opsPorts: [apiOps],
    },
  };
}

const ATTEMPTS_MAX = 50;

/** The first of `count` ports in a row that are free. They are not reserved. */
async function freePortsInARow(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const first = await freePort();
    const faults = await Promise.all(
      Array.from({ length: count }, (_, index) => portFault("127.0.0.1", first + index)),
    );
    if (faults.every((fault) => fault === undefined)) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}
