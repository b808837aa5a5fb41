import assert from "node:assert";
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { prepareChildFolders, processRecordFile } from "./child.ts";
import { type CommandOutput, commandOutput, lastLinesOf } from "./command-output.ts";
import { DemoLinks, FirstLink, madeSecrets, writeDemoLinks } from "./console-file.ts";
import { Demo, demoAt, readDemo, welcomeText, writeDemo } from "./demo-file.ts";
import { makeDemoTraffic } from "./demo-traffic.ts";
import { LockHeldError, takeFileLock } from "./file-lock.ts";
import { openInstallation } from "./installation.ts";
import { keepFilesPrivate } from "./kept-files.ts";
import { portFault, readPorts, stablePorts } from "./ports.ts";
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
  /** The environment that the processes inherit. */
  environment: Readonly<Record<string, string | undefined>>;
  report: Report;
  supervisor: Supervisor;
  /** Aborted when the operator stops the launcher. */
  signal: AbortSignal;
}

const LEFTOVER_DEADLINE_MS = 25_000;
const MIGRATE_DEADLINE_MS = 10 * 60_000;
const DEMO_DEADLINE_MS = 2 * 60_000;

/**
 * Locks DATA_DIR for this process. Returns the function that unlocks it.
 *
 * @throws {LaunchError} when another launcher has locked it, or it is not writable.
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

/** Starts the service in a locked DATA_DIR. Resolves when all processes answer. */
export async function launch(options: Launch): Promise<void> {
  const { settings, report } = options;
  const startedAtMs = Date.now();
  refuseHalfRestored(settings);
  const installation = openInstallation(settings.dataDir);
  prepareChildFolders(settings.dataDir);
  await endLeftovers(settings, report);
  await checkListeners(settings);
  await reachServers(settings.servers);
  const { urls, ingressNode } = await openServersAndIngressNode(options);
  writeServerAddresses(settings, urls);
  const env = productEnvironment(options, urls, installation.id);
  report.note("schema", "bringing Postgres, ClickHouse and JetStream to this version");
  await runTracker(["migrate"], env, MIGRATE_DEADLINE_MS, options);
  const host = { dataDir: settings.dataDir, env, report };
  await startProcesses(host, ingressNode, options);
  const demoFile = join(settings.dataDir, "demo.json");
  if (installation.needsDemo) {
    report.note("demo", `creating a demo workspace; its keys go to ${demoFile}`);
    writeDemo(demoFile, await makeDemo(env, options));
    const links = await runTracker(["person", "demo-links"], env, DEMO_DEADLINE_MS, options);
    writeDemoLinks(settings.dataDir, DemoLinks.parse(JSON.parse(links.stdout)));
    installation.noteDemoCreated(settings.hasDemoTraffic ? Date.now() : undefined);
  }
  const demo = refreshDemo(demoFile, settings);
  fillDemo(host, demo, options);
  report.note("ready", `after ${formatSeconds(Date.now() - startedAtMs)}. Ctrl-C ends it.`);
  const welcome = welcomeText({ ...settings, demoFile }, demo);
  const signIn = await signInLines(env, options);
  process.stdout.write(`\n${welcome}${signIn}\n`);
}

/** How the first admin signs in; nothing once there is one. Output to a pipe may end in a log, which must not contain the link. */
async function signInLines(env: Record<string, string>, options: Launch): Promise<string> {
  if (!process.stdout.isTTY) return "";
  const command = ["person", "first-link", "--if-needed", "--json"];
  const { stdout } = await runTracker(command, env, DEMO_DEADLINE_MS, options);
  if (stdout.trim() === "") return "";
  const { link, hours } = FirstLink.parse(JSON.parse(stdout));
  return [
    "Nobody is an admin yet. This link makes the first one:",
    "",
    `  console     ${options.settings.apiUrl}/console/`,
    `  sign in     ${link}  (once, ${hours} h)`,
    "",
  ].join("\n");
}

/** Runs while the service is used. A start must not fail because sample data is missing. */
function fillDemo(host: ProductProcessHost, demo: Demo | undefined, options: Launch): void {
  const { settings, signal } = options;
  const installation = openInstallation(settings.dataDir);
  const { trafficUntilMs } = installation;
  if (trafficUntilMs === undefined || demo === undefined || !settings.hasDemoTraffic) return;
  host.report.note(
    "demo",
    "adding a month of traffic in the background; DEMO_TRAFFIC=0 leaves it out",
  );
  const fill = async (): Promise<void> => {
    if (!(await makeDemoTraffic(host, trafficUntilMs, signal))) return;
    const command = ["demo", "month-end"];
    const { stdout } = await runTracker(command, host.env, DEMO_DEADLINE_MS, options);
    host.report.note("demo", stdout.trim());
    installation.noteTrafficMade();
  };
  fill().catch((error: unknown) => {
    if (!signal.aborted) host.report.warn("demo", `it is incomplete: ${String(error)}`);
  });
}

function refuseHalfRestored({ dataDir }: LauncherSettings): void {
  if (!existsSync(join(dataDir, "restore.new"))) return;
  throw new LaunchError(
    `A \`tracker restore\` into ${dataDir} was interrupted. Delete the folder, then restore again.`,
  );
}

/** Runs both at the same time, because both may download something. If the servers fail, the download for the ingress is aborted. */
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
    ifMissing: "download",
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

/** Stops processes of an earlier launcher that was killed. They stop by themselves, but may not have finished, or may be stuck. */
async function endLeftovers({ dataDir }: LauncherSettings, report: Report): Promise<void> {
  const folder = join(dataDir, "run");
  if (!existsSync(folder)) return;
  const names = readdirSync(folder).filter((file) => file.endsWith(".pid"));
  await Promise.all(
    names.map(async (file) => {
      const name = file.replace(/\.pid$/, "");
      // On SIGINT Postgres disconnects its clients and shuts down; on SIGTERM it waits for them.
      const stopSignal = name === "postgres-server" ? "SIGINT" : "SIGTERM";
      const left = await stopRecordedProcess({
        file: processRecordFile(dataDir, name),
        stopSignal,
        deadlineMs: LEFTOVER_DEADLINE_MS,
      });
      if (left !== undefined)
        report.note(name, `stopped a process that an earlier run had left (process ${left.pid})`);
    }),
  );
}

/** Writes the addresses and passwords of the servers, the public addresses, and how strict it is, for commands and operators. */
function writeServerAddresses(
  { dataDir, trackingUrl, apiUrl, isStrict, singleSite, standbys }: LauncherSettings,
  urls: ServerUrls,
): void {
  const file = join(dataDir, "servers.json");
  const addresses = {
    postgres_url: urls.postgresUrl,
    nats_url: urls.natsUrl,
    clickhouse_url: urls.clickhouseUrl,
    tracking_url: trackingUrl,
    api_url: apiUrl,
    durability: isStrict ? "strict" : "relaxed",
    strict_single_site: singleSite,
    strict_standbys: standbys,
    nats_sys_url: urls.natsSystemUrl,
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
  // The addresses below come from these files, if they are set. Both forms at once would be refused.
  for (const name of ["POSTGRES_URL", "NATS_URL", "CLICKHOUSE_URL"]) delete env[`${name}_FILE`];
  const embedded = {
    NATS_SYS_URL: urls.natsSystemUrl,
    CLICKHOUSE_READER_URL: urls.clickhouseReaderUrl,
  };
  for (const [name, url] of Object.entries(embedded)) {
    if (url === undefined) continue;
    env[name] = url;
    delete env[`${name}_FILE`];
  }
  return {
    // A fixed name, because there is only one processors process: after a crash, the next one takes over its lanes without waiting.
    PROCESSOR_NAME: `launcher-${installationId}`,
    // No balancer stands before the processes, and the next start finds the journal on the same disk.
    DRAIN_SECONDS: "0",
    DRAIN_STORED_SECONDS: "0",
    // A process without this variable is strict.
    DURABILITY: settings.isStrict ? "strict" : "relaxed",
    ...madeSecrets(env, settings.dataDir),
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
 * Starts all processes at the same time. The supervisor stops them in reverse order: ingress first, because the others must still
 * process its last requests.
 */
async function startProcesses(
  host: ProductProcessHost,
  ingressNode: NodeCommand,
  { settings, supervisor }: Launch,
): Promise<void> {
  const { opsBind, dataDir, trackingPort, apiPort, ingressWorkers } = settings;
  const workers = Array.from({ length: ingressWorkers }, (_, worker) => worker);
  const names: OpsName[] = ["processors-ops", "api-ops", ...workers.map(ingressOps)];
  const file = join(dataDir, "ports.json");
  const ports = await stablePorts(names, {
    file,
    host: opsBind,
    others: [trackingPort, apiPort],
  });
  // The ports of all servers and processes: none may be the target of a customer's postback.
  const ownPorts = Object.values(readPorts(file)).join(",");
  const opsOf = (name: OpsName): { ownEnv: Record<string, string>; readyUrl: string } => {
    const port = ports[name];
    assert(port !== undefined, "every name has a port");
    const readyUrl = `${listenerOrigin(opsBind, port)}/readyz`;
    return { ownEnv: { OPS_PORT: String(port), OWN_PORTS: ownPorts }, readyUrl };
  };
  const node = { command: process.execPath, args: [] };
  const processors = productService(
    {
      name: "processors",
      program: ".build/processors/main.js",
      node,
      ...opsOf("processors-ops"),
    },
    host,
  );
  const api = productService(
    {
      name: "api",
      program: ".build/api/main.js",
      node,
      ...opsOf("api-ops"),
    },
    host,
  );
  const ingress = workers.map((worker) =>
    productService(
      {
        name: `ingress-${worker}`,
        program: ".build/ingress/main.js",
        node: ingressNode,
        ...opsOf(ingressOps(worker)),
      },
      host,
    ),
  );
  const started = [supervisor.add([processors]), supervisor.add([api]), supervisor.add(ingress)];
  // Wait for all before reporting a fault, so that none is lost.
  const faults = (await Promise.allSettled(started)).filter((one) => one.status === "rejected");
  if (faults[0] !== undefined) throw faults[0].reason;
}

/** The name of an operations port in `ports.json`. */
type OpsName = "processors-ops" | "api-ops" | `ingress-${number}-ops`;

function ingressOps(worker: number): `ingress-${number}-ops` {
  return `ingress-${worker}-ops`;
}

/** Updates the addresses in the demo's file. `undefined` if the installation has no demo, or its file was removed. */
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

/** Runs one `tracker` command. Its standard error goes to `logs/tracker.log`; its standard output may contain keys. */
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
    output.code === null ? "was killed after its deadline" : `ended with code ${output.code}`;
  throw new LaunchError(
    `tracker ${args[0] ?? ""} ${how}: ${lastLinesOf(output.stderr, 3)}\nMore is in ${file}.`,
  );
}
