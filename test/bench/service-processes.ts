import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { freePort } from "../system/start-system.ts";
import { type BenchServers, benchReport } from "./bench-servers.ts";
import { ChildServer } from "./child-server.ts";

/** The click writers and the conversion lane, in one process. */
export async function startProcessors({ env }: BenchServers, folder: string): Promise<ChildServer> {
  const port = await freePort();
  const command = [process.execPath, projectFile(".build", "processors", "main.js")];
  return await ChildServer.start(command, `http://127.0.0.1:${port}/health`, {
    ...env,
    DATA_DIR: join(folder, "processors"),
    PROCESSORS_HEALTH_PORT: String(port),
    PROCESSOR_NAME: "bench",
    LANES: "clicks,conversions",
    LOG_LEVEL: "warn",
  });
}

/** One ingress process on this port. */
export async function startIngress(
  { env, runtimeDir }: BenchServers,
  folder: string,
  port: number,
): Promise<ChildServer> {
  const node = await ingressNodeCommand({ runtimeDir, report: benchReport });
  const command = [node.command, ...node.args, projectFile(".build", "ingress", "main.js")];
  const dataDir = join(folder, "ingress");
  await mkdir(dataDir, { recursive: true });
  return await ChildServer.start(command, `http://127.0.0.1:${port}/health`, {
    ...env,
    DATA_DIR: dataDir,
    TRACKING_PORT: String(port),
    TRACKING_URL: `http://127.0.0.1:${port}`,
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
}

/** One api process, which limits nobody's rate. */
export async function startApi({ env }: BenchServers): Promise<ChildServer> {
  const port = await freePort();
  const command = [process.execPath, projectFile(".build", "api", "main.js")];
  return await ChildServer.start(command, `http://127.0.0.1:${port}/health`, {
    ...env,
    API_PORT: String(port),
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
}
