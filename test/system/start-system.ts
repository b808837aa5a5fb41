import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openInstallation } from "../../deploy/local/installation.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { copyMigratedData } from "../services/migrated-data.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { showOnFailure } from "./printing-programs.ts";
import { pause, readDemo, ServiceClient } from "./service.ts";
import { until } from "./until.ts";

/** The whole service, as `npm start` runs it, on its own ports and DATA_DIR. */
export type System = {
  readonly dataDir: string;
  readonly ports: SystemPorts;
  readonly client: ServiceClient;
  readonly launcher: ChildProcess;
  /** Everything the launcher printed. */
  readonly output: () => string;
  /** Sends SIGTERM. Returns the exit code of the launcher. */
  stop(): Promise<number | null>;
  /** Stops the service and removes the DATA_DIR. */
  [Symbol.asyncDispose](): Promise<void>;
};

export type SystemPorts = { readonly tracking: number; readonly api: number };

export type SystemOptions = {
  /** An existing DATA_DIR to start on; by default a new one, whose servers have the migrated data of the run. */
  readonly dataDir?: string;
  /** Start on an empty DATA_DIR, as a user's first start does. */
  readonly isEmpty?: true;
  readonly env?: Record<string, string>;
  /** The ports of an earlier start, so that its clients still work; by default free ones. */
  readonly ports?: SystemPorts;
};

const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 40_000;
const POLL_MS = 100;
const STORES = ["postgres", "clickhouse"] as const;

/** Starts the compiled launcher (run `npm run build` first) and waits until the first redirect can work. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const dataDir = options.dataDir ?? (await newDataDir(options));
  const ports = options.ports ?? { tracking: await freePort(), api: await freePort() };
  const chunks: string[] = [];
  const launcher = spawn(process.execPath, [projectFile(".build", "deploy", "local", "main.js")], {
    cwd: projectFile(),
    env: {
      FX_FEED_URL: "off",
      ...process.env,
      DATA_DIR: dataDir,
      TRACKING_PORT: String(ports.tracking),
      API_PORT: String(ports.api),
      INGRESS_WORKERS: "1",
      TRUSTED_PROXIES: "127.0.0.1/32",
      RUNTIME_DIR: projectFile("node_modules", ".cache", "tracker-runtime"),
      RATE_LIMIT_PER_MINUTE: "1000000",
      // Tests count what they send themselves.
      DEMO_TRAFFIC: "0",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  launcher.stdout.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  launcher.stderr.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  const output = (): string => chunks.join("");
  showOnFailure({ name: "the service", output });
  try {
    await untilReady(launcher, ports, output);
  } catch (error) {
    launcher.kill("SIGTERM");
    throw error;
  }
  const client = new ServiceClient(await readDemo(dataDir));
  // Ingress applies a new demo within a second of its commit.
  const link = client.demo.links.affiliate;
  await until(`${link} redirects`, async () => (await client.attempt(link)).status === 302, {
    timeoutMs: 90_000,
  });
  const stop = async (): Promise<number | null> => {
    await client.close();
    return stopLauncher(launcher);
  };
  return {
    dataDir,
    ports,
    client,
    launcher,
    output,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function newDataDir({ env = {}, isEmpty }: SystemOptions): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "tracker-system-"));
  if (isEmpty === true) return dataDir;
  // The launcher makes the demo in a folder that was empty when its record was written.
  openInstallation(dataDir);
  const own = STORES.filter((store) => env[`${store.toUpperCase()}_URL`] === undefined);
  await copyMigratedData(dataDir, own, { runtimeDir: runtimeDir(), report: testReport() });
  return dataDir;
}

async function untilReady(
  launcher: ChildProcess,
  { tracking, api }: SystemPorts,
  output: () => string,
): Promise<void> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    if (launcher.exitCode !== null)
      throw new Error(`the launcher ended with ${launcher.exitCode}:\n${output()}`);
    if (/curl /.test(output()) && (await isHealthy(tracking)) && (await isHealthy(api))) return;
    await pause(POLL_MS);
  }
  throw new Error(`the service was not ready in ${START_TIMEOUT_MS} ms:\n${output()}`);
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).status === 200;
  } catch {
    // Not listening yet.
    return false;
  }
}

async function stopLauncher(launcher: ChildProcess): Promise<number | null> {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return launcher.exitCode;
  const ended = new Promise<number | null>((resolve) => launcher.once("exit", resolve));
  launcher.kill("SIGTERM");
  const timer = setTimeout(() => launcher.kill("SIGKILL"), STOP_TIMEOUT_MS);
  const code = await ended;
  clearTimeout(timer);
  return code;
}

/** A port that was free just now, and that the system gives to no outgoing connection. */
export function freePort(): Promise<number> {
  return pickPort("127.0.0.1");
}
