/**
 * The embedded ClickHouse as a separate process: the engine of clickhouse-local, which serves ClickHouse's HTTP interface while its last
 * statement runs. Run as `node clickhouse-engine.js <JSON of ClickhouseEngineOrder>`;
 * it prints `ready` and ends cleanly when its standard input closes.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DataType, load, open } from "ffi-rs";
import { askClickhouse } from "./ask-clickhouse.ts";
import { ClickhouseEngineOrder } from "./child-programs.ts";

const LIBRARY = "clickhouse";
const READY_POLL_MS = 20;
const STOP_ATTEMPTS_MAX = 150;
const STOP_POLL_MS = 100;
/** A clean stop with queries and merges in progress took up to 3 s. */
const STOP_DEADLINE_MS = 20_000;

async function main(): Promise<void> {
  const order = ClickhouseEngineOrder.parse(JSON.parse(process.argv[2] ?? ""));
  // Another engine may own the port, so every request names a statement that only our engine runs.
  const mark = `keep-alive-${process.pid}-${randomBytes(8).toString("hex")}`;
  const { address, user } = order;
  const password = readFileSync(order.passwordFile, "utf8").trim();
  const ask = (sql: string): Promise<string> => askClickhouse({ address, user, password }, sql);
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
  if (running) process.stdout.write("ready\n");
  await ended;
  if (fault !== undefined) process.stderr.write(`${fault.stack ?? fault.message}\n`);
  process.exit(stop.called && fault === undefined ? 0 : 1);
}

/** Settles when the engine has shut down. The library runs it in its own thread, so this process stays responsive. */
async function runEngine(order: ClickhouseEngineOrder, mark: string): Promise<void> {
  open({ library: LIBRARY, path: order.library });
  const keepAlive =
    `/*${mark}*/ SELECT sleepEachRow(0.1) FROM system.numbers SETTINGS max_block_size = 1, ` +
    "function_sleep_max_microseconds_per_block = 0, log_queries = 0, max_threads = 1 FORMAT Null";
  const args = [
    "clickhouse-local",
    `--config-file=${order.configFile}`,
    "--query",
    `SYSTEM START LISTEN HTTP; ${keepAlive}`,
  ];
  await load({
    library: LIBRARY,
    funcName: "query_stable_v2",
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [args.length, args],
    runInNewThread: true,
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
