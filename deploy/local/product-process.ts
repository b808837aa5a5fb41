import { get } from "node:http";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { startChild } from "./child.ts";
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
  /** It is ready when this answers 200. */
  healthUrl: string;
}

export interface ProductProcessHost {
  dataDir: string;
  env: Record<string, string>;
  report: Report;
}

const READY_DEADLINE_MS = 60_000;
/** The processes give themselves 15 s. */
const STOP_DEADLINE_MS = 20_000;
const SHOWN_LINES_MAX = 10;
const SHOWN_WINDOW_MS = 10_000;

/** One process of the product as a service: its log in a file, its warnings at the terminal, its end with the launcher's. */
export function productService(process: ProductProcess, host: ProductProcessHost): Service {
  const { name, node, healthUrl } = process;
  const { dataDir, report } = host;
  return {
    name,
    async start(signal) {
      const limiter = new LineLimiter(SHOWN_LINES_MAX, SHOWN_WINDOW_MS);
      const child = await startChild({
        name,
        command: node.command,
        args: [...node.args, projectFile(process.program)],
        // The processes end when their standard input does: a launcher that is killed leaves none behind.
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
        isReady: () => answersOk(healthUrl),
      });
      if (outcome === "ready") return child;
      const what = outcome === "late" ? `${healthUrl} does not answer 200` : "it ended at once";
      throw new LaunchError(
        `${name} did not start: ${what}. Its last words: ${lastLinesOf(child.lastLines().join("\n")) || "none"}\n` +
          `More is in ${join(dataDir, "logs", `${name}.log`)}.`,
      );
    },
  };
}

const ANSWER_WAIT_MS = 2_000;

/** Whether a GET answers 200 within 2 s. The body is not looked at. */
function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get(url, { agent: false, timeout: ANSWER_WAIT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once("timeout", () => call.destroy());
    // Refused or reset: not ready. Which of them makes no difference to the one who asks again.
    call.once("error", () => resolve(false));
    call.once("close", () => resolve(false));
  });
}
