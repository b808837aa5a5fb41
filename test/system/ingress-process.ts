import { type ChildProcess, spawn } from "node:child_process";
import type { NodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { until } from "./until.ts";

const START_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 20_000;
const OUTPUT_CHARACTERS_MAX = 4_000;

/** One real ingress process (`npm run build` first). Ends with this one. */
export class IngressProcess {
  /** Settles with the exit code when it has ended; null after a signal. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  #output = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = new Promise((resolve) => child.once("exit", resolve));
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
  }

  static spawn(
    { command, args }: NodeCommand,
    env: Readonly<Record<string, string>>,
  ): IngressProcess {
    const child = spawn(command, [...args, projectFile(".build", "ingress", "main.js")], {
      env: { ...process.env, LOG_LEVEL: "info", EXIT_WITH_PARENT: "1", ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    return new IngressProcess(child);
  }

  /** The same; answers when it serves. @throws with its last words when it does not. */
  static async start(
    node: NodeCommand,
    env: Readonly<Record<string, string>>,
  ): Promise<IngressProcess> {
    const started = IngressProcess.spawn(node, env);
    if (await started.untilServing()) return started;
    throw new Error(`the ingress ended with ${String(await started.ended)}: ${started.output}`);
  }

  /** Whether it serves; false when it has ended instead. */
  async untilServing(): Promise<boolean> {
    await until(
      "the ingress says that it runs",
      () => !this.isRunning || this.output.includes("process.running"),
      { timeoutMs: START_TIMEOUT_MS, pollMs: 20 },
    ).catch((error: unknown) => {
      throw new Error(`the ingress did not start: ${this.output}`, { cause: error });
    });
    return this.isRunning;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the ingress has no pid");
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last of what it said. */
  get output(): string {
    return this.#output;
  }

  /** Answers the exit code when the process is gone. One that hangs is killed. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_TIMEOUT_MS);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }
}
