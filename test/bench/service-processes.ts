import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ChildServer } from "../system/child-server.ts";
import { ingressProgram, nodeProgram } from "../system/service-program.ts";
import { freePort } from "../system/start-system.ts";
import type { BenchServers } from "./bench-servers.ts";

/** The click writers and the conversion processor, in one process. */
export async function startProcessors({ env }: BenchServers, folder: string): Promise<ChildServer> {
  const port = await freePort();
  return await ChildServer.start(nodeProgram("processors"), `http://127.0.0.1:${port}/readyz`, {
    ...env,
    DATA_DIR: join(folder, "processors"),
    OPS_PORT: String(port),
    PROCESSOR_NAME: "bench",
    ROLES: "clicks,conversions",
    LOG_LEVEL: "warn",
  });
}

/** One ingress process on this port. */
export async function startIngress(
  { env }: BenchServers,
  folder: string,
  port: number,
): Promise<ChildServer> {
  const dataDir = join(folder, "ingress");
  await mkdir(dataDir, { recursive: true });
  return await ChildServer.start(await ingressProgram(), `http://127.0.0.1:${port}/health`, {
    ...env,
    DATA_DIR: dataDir,
    TRACKING_PORT: String(port),
    TRACKING_URL: `http://127.0.0.1:${port}`,
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
}

/** One api process without a rate limit that this bench could reach. */
export async function startApi({ env }: BenchServers): Promise<ChildServer> {
  const port = await freePort();
  return await ChildServer.start(nodeProgram("api"), `http://127.0.0.1:${port}/health`, {
    ...env,
    API_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
}
