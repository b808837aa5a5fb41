/**
 * `tracker ingress [--workers N]`: N ingress processes on one port, and this small parent that restarts them. `--prepare` starts nothing: it
 * gets what ingress needs on a system with an old C library.
 */
import { parseArgs } from "node:util";
import { type Log, openLog } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { OpsServer } from "../../schemas/host/ops-server.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { settingsOrUndefined } from "../../schemas/host/read-settings.ts";
import { startSystemdWatchdog } from "../../schemas/host/systemd-watchdog.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { ingressNodeCommand, type NodeCommand } from "../local/private-glibc.ts";
import { LaunchError, type Report } from "../local/report.ts";
import { readWorkersSettings, type WorkersSettings } from "./settings.ts";
import { Worker } from "./worker.ts";
import { WorkerPool } from "./worker-pool.ts";

/** For wrong usage, and where the system cannot run ingress: a restart makes neither right. */
const EXIT_USAGE = 2;
/** A worker ends itself within 20 s in addition to its two waits. */
const END_MARGIN_MS = 25_000;

async function main(args: readonly string[]): Promise<number> {
  const asked = askedFor(args);
  if (asked.fault !== undefined) {
    process.stderr.write(`tracker ingress: ${asked.fault}\n`);
    return EXIT_USAGE;
  }
  const settings = settingsOrUndefined(() =>
    readWorkersSettings({
      ...process.env,
      ...(asked.workers === undefined ? {} : { INGRESS_WORKERS: asked.workers }),
    }),
  );
  if (settings === undefined) return EXIT_USAGE;
  const log = openLog({ process: "ingress-workers", level: settings.logLevel });
  try {
    const { runtimeDir } = settings;
    const ifMissing = asked.isPreparing ? "download" : "refuse";
    const node = await ingressNodeCommand({ runtimeDir, ifMissing, report: reportTo(log) });
    if (!asked.isPreparing) return await run(settings, log, node);
    log.info({ command: node.command }, "ingress.prepared");
    return 0;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    log.fatal({ err: error }, "process.did-not-start");
    return EXIT_USAGE;
  }
}

type Asked = { readonly workers?: string; readonly isPreparing: boolean; readonly fault?: string };

function askedFor(args: readonly string[]): Asked {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { workers: { type: "string" }, prepare: { type: "boolean" } },
    });
    const isPreparing = values.prepare === true;
    return values.workers === undefined
      ? { isPreparing }
      : { isPreparing, workers: values.workers };
  } catch (error) {
    return { isPreparing: false, fault: error instanceof Error ? error.message : String(error) };
  }
}

async function run(
  settings: WorkersSettings,
  log: Log,
  { command, args }: NodeCommand,
): Promise<number> {
  const pool = new WorkerPool({
    workers: settings.workers,
    log,
    endDeadlineMs: settings.drainMs + END_MARGIN_MS,
    start: async (index) => {
      const opsPort = settings.firstOpsPort + index;
      return await Worker.start({
        command: [command, ...args, projectFile(".build", "ingress", "main.js")],
        env: { ...process.env, OPS_PORT: String(opsPort), EXIT_WITH_PARENT: "1" },
        readyUrl: `${listenerOrigin(settings.opsBind, opsPort)}/readyz`,
      });
    },
  });
  endBySignals(pool, settings);
  const ops = await showPool(pool, settings);
  startSystemdWatchdog(log);
  const { workers, firstOpsPort } = settings;
  log.info({ workers, first_ops_port: firstOpsPort, ops_port: ops.port }, "process.running");
  const code = await pool.run();
  await ops.close();
  process.stdin.destroy();
  log.info({ code }, "process.ended");
  return code;
}

/** For probes, which must see every worker: on the port of the workers the kernel gives a connection to one of them. */
async function showPool(
  pool: WorkerPool,
  { opsBind, poolOpsPort, workers }: WorkersSettings,
): Promise<OpsServer> {
  const ops = await OpsServer.open({
    role: "ingress",
    name: "ingress-workers",
    bind: opsBind,
    port: poolOpsPort,
    portSetting: "WORKERS_OPS_PORT",
    metrics: new Metrics(),
    lifetime: pool,
  });
  ops.started({
    isReady: () => pool.isReady,
    facts: () => ({ workers, workers_serving: pool.serving }),
  });
  return ops;
}

function endBySignals(pool: WorkerPool, { exitWithParent }: WorkersSettings): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => pool.end(signal));
  process.on("SIGHUP", () => void pool.restartInTurn());
  process.on("SIGUSR2", () => pool.reopenLogs());
  if (!exitWithParent) return;
  process.stdin
    .on("close", () => pool.end("SIGTERM"))
    .on("error", () => undefined)
    .resume();
}

function reportTo(log: Log): Report {
  return {
    note: (part, text) => log.info({ part }, text),
    warn: (part, text) => log.warn({ part }, text),
  };
}

process.exitCode = await main(process.argv.slice(3));
