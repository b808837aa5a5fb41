/** `tracker ingress [--workers N]`: N ingress processes on one port, and this small parent that restarts them. */
import { parseArgs } from "node:util";
import { type Log, openLog } from "../../schemas/host/log.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { settingsOrUndefined } from "../../schemas/host/read-settings.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { ingressNodeCommand } from "../local/private-glibc.ts";
import { LaunchError, type Report } from "../local/report.ts";
import { readWorkersSettings, type WorkersSettings } from "./settings.ts";
import { Worker } from "./worker.ts";
import { WorkerPool } from "./worker-pool.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** A worker ends itself within 20 s in addition to its two waits. */
const END_MARGIN_MS = 25_000;

async function main(args: readonly string[]): Promise<number> {
  const asked = workersAskedFor(args);
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
    return await run(settings, log);
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    log.fatal({ err: error }, "process.did-not-start");
    return EXIT_FAILED;
  }
}

function workersAskedFor(args: readonly string[]): { workers?: string; fault?: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: { workers: { type: "string" } } });
    return values.workers === undefined ? {} : { workers: values.workers };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

async function run(settings: WorkersSettings, log: Log): Promise<number> {
  const { runtimeDir } = settings;
  const { command, args } = await ingressNodeCommand({ runtimeDir, report: reportTo(log) });
  const pool = new WorkerPool({
    workers: settings.workers,
    log,
    endDeadlineMs: settings.drainMs + END_MARGIN_MS,
    start: async (index) =>
      await Worker.start({
        command: [command, ...args, projectFile(".build", "ingress", "main.js")],
        env: { ...process.env, INGRESS_WORKER: String(index), EXIT_WITH_PARENT: "1" },
        readyUrl: `${listenerOrigin(settings.opsBind, settings.firstOpsPort + index)}/readyz`,
      }),
  });
  endBySignals(pool, settings);
  log.info({ workers: settings.workers, first_ops_port: settings.firstOpsPort }, "process.running");
  const code = await pool.run();
  process.stdin.destroy();
  log.info({ code }, "process.ended");
  return code;
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
