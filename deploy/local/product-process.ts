import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { askProcess, hangs } from "./ask-process.ts";
import { type Child, type StartedChild, startChild } from "./child.ts";
import { lastLinesOf } from "./command-output.ts";
import { awaitReady } from "./leashed-server.ts";
import { LineLimiter, shownLine } from "./log-lines.ts";
import type { NodeCommand } from "./private-glibc.ts";
import { LaunchError, type Report } from "./report.ts";
import type { Service } from "./supervisor.ts";

export interface ProductProcess {
  name: string;
  /** The compiled program, from the root of the installation. */
  program: string;
  node: NodeCommand;
  /** Added to `env`. */
  ownEnv?: Record<string, string>;
  /** The process is ready when this URL answers 200. */
  readyUrl: string;
}

export interface ProductProcessHost {
  dataDir: string;
  env: Record<string, string>;
  report: Report;
}

const READY_DEADLINE_MS = 60_000;
/** The processes themselves stop within 20 s. */
const STOP_DEADLINE_MS = 25_000;
const SHOWN_LINES_MAX = 10;
const SHOWN_WINDOW_MS = 10_000;

/** A process of the product as a service. Its log goes to a file, its warnings to the terminal; it stops with the launcher. */
export function productService(process: ProductProcess, host: ProductProcessHost): Service {
  const { name, node, readyUrl } = process;
  const { dataDir, report } = host;
  return {
    name,
    async start(signal) {
      const limiter = new LineLimiter(SHOWN_LINES_MAX, SHOWN_WINDOW_MS);
      const child = await startChild({
        name,
        command: node.command,
        args: [...node.args, projectFile(process.program)],
        // The processes stop when their standard input closes, so a killed launcher leaves none behind.
        env: { ...host.env, ...process.ownEnv, EXIT_WITH_PARENT: "1" },
        dataDir,
        report,
        stopBy: "SIGTERM",
        stopDeadlineMs: STOP_DEADLINE_MS,
        onLine: (line) => {
          const text = shownLine(line);
          const shown = text === undefined ? undefined : limiter.pass(text, Date.now());
          if (shown !== undefined) report.warn(name, shown);
        },
      });
      const outcome = await awaitReady({
        child,
        signal,
        deadlineMs: READY_DEADLINE_MS,
        isReady: async () => (await askProcess(readyUrl)) === "ready",
      });
      if (outcome === "ready") return watched(child, process, report);
      const what = outcome === "late" ? `${readyUrl} does not answer 200` : "it ended at once";
      throw new LaunchError(
        `${name} did not start: ${what}. Its last output: ${lastLinesOf(child.lastLines().join("\n")) || "none"}\n` +
          `More is in ${join(dataDir, "logs", `${name}.log`)}.`,
      );
    },
  };
}

/** A process that no longer answers is killed, so that the supervisor starts it again. A process that is being stopped has its own deadline. */
function watched(child: StartedChild, process: ProductProcess, report: Report): Child {
  const { name, readyUrl } = process;
  const watch = new AbortController();
  void child.exited.then(() => watch.abort());
  void hangs(async () => await askProcess(readyUrl), watch.signal).then((isHung) => {
    if (!isHung) return;
    report.warn(name, "does not answer on its operations port any more and is killed");
    child.kill();
  });
  return {
    ...child,
    stop: async () => {
      watch.abort();
      await child.stop();
    },
  };
}
