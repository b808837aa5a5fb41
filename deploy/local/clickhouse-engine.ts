/**
 * The embedded ClickHouse as a separate process: the engine of clickhouse-local, which serves ClickHouse's HTTP interface while its last
 * statement runs. Run as `node clickhouse-engine.js <JSON of ClickhouseEngineOrder>`;
 * it prints `ready` and ends cleanly when its standard input closes.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { projectFile } from "../../schemas/host/project-root.ts";
import { askClickhouse, isListening } from "./ask-clickhouse.ts";
import { ClickhouseEngineOrder, ENGINE_LINES, programFile } from "./child-programs.ts";
import { authorizationOf, authorizationVariable } from "./clickhouse-config.ts";
import { confineThread } from "./confine-thread.ts";

const READY_POLL_MS = 20;
const STOP_ATTEMPTS_MAX = 150;
const STOP_POLL_MS = 100;
/** A clean stop with queries and merges in progress took up to 3 s. */
const STOP_DEADLINE_MS = 20_000;
const LISTENER_POLL_MS = 1_000;
/** One refusal may come from a full queue of connections. */
const REFUSALS_MAX = 2;

/**
 * What the engine reads of the system: its own state, memory and processors, time zones, random bytes. In `/proc` it reads only its own folder
 * and figures of the machine, because root could read the kernel's memory there.
 */
const SYSTEM_FILES = [
  "/usr/share/zoneinfo",
  "/etc/localtime",
  "/proc/self",
  ...["cpuinfo", "loadavg", "meminfo", "stat", "uptime", "version", "sys/kernel", "sys/vm"].map(
    (name) => `/proc/${name}`,
  ),
  "/sys/devices/system",
  "/sys/kernel/mm/transparent_hugepage",
  "/sys/fs/cgroup",
];
/** For the thread that starts the engine. */
const PROGRAMS = ["node_modules", ".build", "package.json"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

async function main(): Promise<void> {
  const order = ClickhouseEngineOrder.parse(JSON.parse(process.argv[2] ?? ""));
  // Another engine may own the port, so every request names a statement that only our engine runs.
  const mark = `keep-alive-${process.pid}-${randomBytes(8).toString("hex")}`;
  const ask = prepareLogins(order);
  confine(order);
  let running = true;
  let fault: Error | undefined;
  const ended = runEngine(order, mark)
    .catch((error: unknown) => {
      fault = error instanceof Error ? error : new Error("the engine failed", { cause: error });
    })
    .finally(() => {
      running = false;
    });
  const stop = endOnce(async () => {
    setTimeout(killThisProcess, STOP_DEADLINE_MS);
    await endStatement(ask, mark, () => running);
  });
  process.stdin.on("end", stop).on("error", stop).resume();
  // A write fails when the launcher was killed. The end of standard input reports that too.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", stop);
  process.on("uncaughtException", (error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    stop();
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
  while (running && !(await isRunning(ask, mark))) await sleep(READY_POLL_MS);
  if (running) process.stdout.write(`${ENGINE_LINES.ready}\n`);
  void killWhenDeaf(order, () => running && !stop.called);
  await ended;
  if (fault !== undefined) process.stderr.write(`${fault.stack ?? fault.message}\n`);
  process.exit(stop.called && fault === undefined ? 0 : 1);
}

/** Tells the engine which logins it serves. Returns a function that asks it as the first of them. */
function prepareLogins({
  host,
  port,
  logins,
}: ClickhouseEngineOrder): (sql: string) => Promise<string> {
  const [asker] = logins.map(({ user, passwordFile }, login) => {
    const password = readFileSync(passwordFile, "utf8").trim();
    // oxlint-disable-next-line node/no-process-env, eslint/no-restricted-properties -- not by the launcher: /proc/self/environ would show it
    process.env[authorizationVariable(login)] = authorizationOf(user, password);
    return { user, password };
  });
  const access = { address: `http://${host}:${port}`, user: "", password: "", ...asker };
  return (sql) => askClickhouse(access, sql);
}

/** From here on this thread and the engine reach only what the engine needs. SQL functions such as `file()` need no right in this engine. */
function confine({ library, folders, port, clusterPorts }: ClickhouseEngineOrder): void {
  let why: string | undefined;
  try {
    why = confineThread({
      readable: [...SYSTEM_FILES, ...PROGRAMS.map((name) => projectFile(name)), dirname(library)],
      writable: folders,
      devices: DEVICES,
      ports: [port, ...clusterPorts],
    });
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  if (why !== undefined) process.stdout.write(`${ENGINE_LINES.unconfined}${why}\n`);
}

/** Settles when the engine has shut down. It runs in threads of its own, so this process stays responsive. */
async function runEngine(order: ClickhouseEngineOrder, mark: string): Promise<void> {
  const keepAlive =
    `/*${mark}*/ SELECT sleepEachRow(0.1) FROM system.numbers SETTINGS max_block_size = 1, ` +
    "function_sleep_max_microseconds_per_block = 0, log_queries = 0, max_threads = 1 FORMAT Null";
  const args = [
    "clickhouse-local",
    `--config-file=${order.configFile}`,
    "--query",
    `SYSTEM START LISTEN HTTP; ${keepAlive}`,
  ];
  await new Promise<void>((resolve, reject) => {
    const thread = new Worker(programFile("clickhouse-thread"), {
      workerData: [order.library, ...args],
    });
    thread.once("error", reject);
    thread.once("exit", () => resolve());
  });
}

async function isRunning(ask: (sql: string) => Promise<string>, mark: string): Promise<boolean> {
  try {
    const found = await ask(
      `SELECT count() FROM system.processes WHERE startsWith(query, '/*${mark}*/')`,
    );
    return found.trim() === "1";
  } catch (error) {
    // Nothing listens yet, or another program does. The engine reports the reason on standard error.
    if (error instanceof Error) return false;
    throw error;
  }
}

/**
 * An engine whose port is closed serves nobody, cannot be asked to end, and would not end by itself. Killed, it is started again by the
 * launcher. The data is safe: every insert is on disk as a part.
 */
async function killWhenDeaf(
  { host, port }: ClickhouseEngineOrder,
  shouldListen: () => boolean,
): Promise<void> {
  for (let refusals = 0; refusals < REFUSALS_MAX; ) {
    await sleep(LISTENER_POLL_MS);
    refusals = (await isListening(host, port)) ? 0 : refusals + 1;
    if (!shouldListen()) return;
  }
  process.stdout.write(`${ENGINE_LINES.deaf}\n`, killThisProcess);
}

/** Cancels the engine's last statement, which ends it. Repeats until it has ended, because the engine may still be starting. */
async function endStatement(
  ask: (sql: string) => Promise<string>,
  mark: string,
  isRunningStill: () => boolean,
): Promise<void> {
  let fault = "";
  for (let attempt = 0; attempt < STOP_ATTEMPTS_MAX && isRunningStill(); attempt++) {
    try {
      await ask(`KILL QUERY WHERE startsWith(query, '/*${mark}*/') ASYNC`);
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
    await sleep(STOP_POLL_MS);
  }
  if (!isRunningStill()) return;
  const cause = fault === "" ? "" : ` The last attempt to stop it failed: ${fault}.`;
  process.stderr.write(`the engine did not end in time, so it will be killed.${cause}\n`);
}

/** `process.exit` would wait for the engine's thread, which may hang. The data is safe: every insert is on disk as a part. */
function killThisProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

function endOnce(action: () => Promise<void>): { (): void; called: boolean } {
  const run = (): void => {
    if (run.called) return;
    run.called = true;
    void action();
  };
  run.called = false;
  return run;
}

await main();
