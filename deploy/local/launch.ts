import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { prepareChildFolders, processRecordFile } from "./child.ts";
import { type CommandOutput, commandOutput, lastWords } from "./command-output.ts";
import { Demo, demoAt, readDemo, welcomeText, writeDemo } from "./demo-file.ts";
import { LockHeldError, takeFileLock } from "./file-lock.ts";
import { openInstallation } from "./installation.ts";
import { keepFilesPrivate } from "./kept-files.ts";
import { keptPorts, portFault } from "./ports.ts";
import { ingressNodeCommand, type NodeCommand } from "./private-glibc.ts";
import { stopRecordedProcess } from "./process-record.ts";
import { type ProductProcessHost, productService } from "./product-process.ts";
import { formatSeconds, LaunchError, type Report } from "./report.ts";
import { RotatingLog } from "./rotating-log.ts";
import { openServers, reachServers, type ServerUrls } from "./server-set.ts";
import type { LauncherSettings } from "./settings.ts";
import type { Supervisor } from "./supervisor.ts";

export interface Launch {
  settings: LauncherSettings;
  /** The environment that is passed on to the processes. */
  environment: Readonly<Record<string, string | undefined>>;
  report: Report;
  supervisor: Supervisor;
  /** Aborted when the person wants the end. */
  signal: AbortSignal;
}

const LEFTOVER_DEADLINE_MS = 25_000;
const MIGRATE_DEADLINE_MS = 10 * 60_000;
const DEMO_DEADLINE_MS = 2 * 60_000;

/**
 * Takes DATA_DIR for this process and answers how to give it back.
 *
 * @throws {LaunchError} when another launcher has it, or it cannot be written.
 */
export function takeDataDir({ dataDir }: LauncherSettings): () => void {
  try {
    keepFilesPrivate(dataDir);
    return takeFileLock(join(dataDir, "launcher.lock"), "npm start");
  } catch (error) {
    if (error instanceof LockHeldError) {
      throw new LaunchError(
        `DATA_DIR ${dataDir} is in use by another npm start (process ${error.holder.pid}). Stop that one first, or ` +
          "give this one its own DATA_DIR, TRACKING_PORT and API_PORT.",
        { cause: error },
      );
    }
    const fault = error instanceof Error ? error.message : String(error);
    throw new LaunchError(`DATA_DIR ${dataDir} cannot be used: ${fault}.`, { cause: error });
  }
}

/** Everything from an owned DATA_DIR to a service that answers. Settles when it does. */
export async function launch(options: Launch): Promise<void> {
  const { settings, report } = options;
  const startedAtMs = Date.now();
  const installation = openInstallation(settings.dataDir);
  prepareChildFolders(settings.dataDir);
  await endLeftovers(settings, report);
  await checkListeners(settings);
  await reachServers(settings.servers);
  const { urls, ingressNode } = await openServersAndIngressNode(options);
  writeServerAddresses(join(settings.dataDir, "servers.json"), urls);
  const env = productEnvironment(options, urls, installation.id);
  report.note("schema", "bringing Postgres, ClickHouse and JetStream to this version");
  await runTracker(["migrate"], env, MIGRATE_DEADLINE_MS, options);
  await startProcesses({ dataDir: settings.dataDir, env, report }, ingressNode, options);
  const demoFile = join(settings.dataDir, "demo.json");
  if (installation.needsDemo) {
    report.note("demo", `making a workspace to try things in; its keys go to ${demoFile}`);
    writeDemo(demoFile, await makeDemo(env, options));
    installation.demoIsMade();
  }
  const demo = refreshDemo(demoFile, settings);
  report.note("ready", `after ${formatSeconds(Date.now() - startedAtMs)}. Ctrl-C ends it.`);
  // A pipe may lead to a log, which keys and tokens must not be in.
  const withKeys = process.stdout.isTTY;
  process.stdout.write(`\n${welcomeText({ ...settings, demoFile, withKeys }, demo)}\n`);
}

/** Both may download something, so they go on side by side; the fault of one ends the other. */
async function openServersAndIngressNode({
  settings,
  supervisor,
  report,
  signal,
}: Launch): Promise<{ urls: ServerUrls; ingressNode: NodeCommand }> {
  const fault = new AbortController();
  const ingressNode = ingressNodeCommand({
    runtimeDir: settings.runtimeDir,
    report,
    signal: AbortSignal.any([signal, fault.signal]),
  });
  try {
    const [urls, node] = await Promise.all([
      openServers(settings, supervisor, report),
      ingressNode,
    ]);
    return { urls, ingressNode: node };
  } catch (error) {
    fault.abort(error);
    await Promise.allSettled([ingressNode]);
    throw error;
  }
}

/** A launcher that was killed takes its processes along, but they may still be at it, or be stuck. */
async function endLeftovers({ dataDir }: LauncherSettings, report: Report): Promise<void> {
  const folder = join(dataDir, "run");
  if (!existsSync(folder)) return;
  const names = readdirSync(folder).filter((file) => file.endsWith(".pid"));
  await Promise.all(
    names.map(async (file) => {
      const name = file.replace(/\.pid$/, "");
      // A fast shutdown is what Postgres makes of this signal; of SIGTERM it makes one that waits for its clients.
      const stopSignal = name === "postgres-server" ? "SIGINT" : "SIGTERM";
      const left = await stopRecordedProcess({
        file: processRecordFile(dataDir, name),
        stopSignal,
        deadlineMs: LEFTOVER_DEADLINE_MS,
      });
      if (left !== undefined)
        report.note(name, `ended what an earlier run had left (process ${left.pid})`);
    }),
  );
}

/** For commands and people that want to look into the servers of a running installation; it holds their passwords. */
function writeServerAddresses(file: string, urls: ServerUrls): void {
  const addresses = {
    postgres_url: urls.postgresUrl,
    nats_url: urls.natsUrl,
    clickhouse_url: urls.clickhouseUrl,
  };
  writeFileSync(`${file}.new`, `${JSON.stringify(addresses, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

async function checkListeners(settings: LauncherSettings): Promise<void> {
  const { bindAddress, trackingPort, apiPort } = settings;
  const listeners = [
    { variable: "TRACKING_PORT", port: trackingPort },
    { variable: "API_PORT", port: apiPort },
  ];
  const sentences: string[] = [];
  for (const { variable, port } of listeners) {
    const fault = await portFault(bindAddress, port);
    if (fault !== undefined) sentences.push(listenerSentence(variable, bindAddress, port, fault));
  }
  if (sentences.length > 0) throw new LaunchError(sentences.join("\n"));
}

function listenerSentence(variable: string, address: string, port: number, fault: string): string {
  switch (fault) {
    case "EADDRINUSE":
      return `${variable} ${port} on ${address} is in use by another program. Choose another with ${variable}=…`;
    case "EACCES":
      return `${variable} ${port} is reserved for root. Choose one from 1024 on with ${variable}=…`;
    case "EADDRNOTAVAIL":
      return `BIND_ADDRESS ${address} is not an address of this machine, so ${variable} ${port} cannot listen there.`;
    default:
      return `${variable} ${port} on ${address} cannot be used: ${fault}.`;
  }
}

function productEnvironment(
  { settings, environment }: Launch,
  urls: ServerUrls,
  installationId: string,
): Record<string, string> {
  const env: Record<string, string> = {};
  // An empty variable counts as unset: it must not hide what is set here.
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") env[name] = value;
  }
  return {
    // There is one processors process, and a dead one's successor takes its lanes over without waiting.
    PROCESSOR_NAME: `launcher-${installationId}`,
    ...env,
    POSTGRES_URL: urls.postgresUrl,
    NATS_URL: urls.natsUrl,
    CLICKHOUSE_URL: urls.clickhouseUrl,
    DATA_DIR: settings.dataDir,
    TRACKING_PORT: String(settings.trackingPort),
    API_PORT: String(settings.apiPort),
    BIND_ADDRESS: settings.bindAddress,
    TRACKING_URL: settings.trackingUrl,
    API_URL: settings.apiUrl,
  };
}

/**
 * All processes at once. They are stopped in the reverse of this order: the ingress first, so that what it still answers
 * finds the others at work.
 */
async function startProcesses(
  host: ProductProcessHost,
  ingressNode: NodeCommand,
  { settings, supervisor }: Launch,
): Promise<void> {
  const { bindAddress, dataDir, trackingPort, apiPort, ingressWorkers } = settings;
  const workers = Array.from({ length: ingressWorkers }, (_, worker) => worker);
  const names = ["processors-health", ...workers.map(ingressHealth)] as const;
  const ports = await keptPorts(join(dataDir, "ports.json"), names, "127.0.0.1");
  const healthPort = ports["processors-health"];
  const node = { command: process.execPath, args: [] };
  const processors = productService(
    {
      name: "processors",
      program: ".build/processors/main.js",
      node,
      ownEnv: { PROCESSORS_HEALTH_PORT: String(healthPort) },
      healthUrl: `http://127.0.0.1:${healthPort}/health`,
    },
    host,
  );
  const api = productService(
    {
      name: "api",
      program: ".build/api/main.js",
      node,
      healthUrl: `${listenerOrigin(bindAddress, apiPort)}/health`,
    },
    host,
  );
  const ingress = workers.map((worker) =>
    productService(
      {
        name: `ingress-${worker}`,
        program: ".build/ingress/main.js",
        node: ingressNode,
        ownEnv: {
          INGRESS_HEALTH_PORT: String(ports[ingressHealth(worker)]),
        },
        healthUrl: `${listenerOrigin(bindAddress, trackingPort)}/health`,
      },
      host,
    ),
  );
  const started = [supervisor.add([processors]), supervisor.add([api]), supervisor.add(ingress)];
  // Wait for all before reporting a fault, so that none is lost.
  const faults = (await Promise.allSettled(started)).filter((one) => one.status === "rejected");
  if (faults[0] !== undefined) throw faults[0].reason;
}

/** The name of its port in `ports.json`. */
function ingressHealth(worker: number): `ingress-${number}-health` {
  return `ingress-${worker}-health`;
}

/** `undefined` when this installation began without a demo, or a person has removed its file. */
function refreshDemo(file: string, settings: LauncherSettings): Demo | undefined {
  const kept = readDemo(file);
  if (kept === undefined) return undefined;
  const demo = demoAt(kept, settings);
  if (JSON.stringify(demo) !== JSON.stringify(kept)) writeDemo(file, demo);
  return demo;
}

async function makeDemo(env: Record<string, string>, options: Launch): Promise<Demo> {
  const { stdout } = await runTracker(["demo", "--json"], env, DEMO_DEADLINE_MS, options);
  const parsed = Demo.safeParse(JSON.parse(stdout));
  if (parsed.success) return parsed.data;
  throw new LaunchError(`The demo workspace is incomplete: ${parsed.error.message}`);
}

/** Runs one command of the command line; what it says on standard error goes to `logs/tracker.log`. Its result may hold keys. */
async function runTracker(
  args: readonly string[],
  env: Record<string, string>,
  deadlineMs: number,
  { settings, report, signal }: Launch,
): Promise<CommandOutput> {
  const file = join(settings.dataDir, "logs", "tracker.log");
  const log = new RotatingLog(file, (cause) => report.warn("tracker", `its log: ${cause.message}`));
  const program = projectFile(".build", "api", "tracker.js");
  const output = await commandOutput(process.execPath, [program, ...args], {
    env,
    deadlineMs,
    signal,
  });
  log.write(output.stderr);
  if (output.code === 0) return output;
  const how =
    output.code === null ? "was ended after its deadline" : `ended with code ${output.code}`;
  throw new LaunchError(
    `tracker ${args[0] ?? ""} ${how}: ${lastWords(output.stderr, 3)}\nMore is in ${file}.`,
  );
}
