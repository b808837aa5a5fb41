import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { until } from "../../system/until.ts";

const LANES = 5;
/** Lines kept of what it said, for the message of a failed test. */
const LINES_MAX = 200;

/** A click writer as a process of its own, to be killed and frozen. Needs the compiled program: `npm run build` first. */
export class WriterProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  /** Lanes that it has opened, by number, with the epoch. */
  readonly epochs = new Map<number, number>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("the writer has no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#lines.push(line);
      if (this.#lines.length > LINES_MAX) this.#lines.shift();
      const opened = /"lane":(\d+),"epoch":(\d+),.*"msg":"clicks\.lane-open"/.exec(line);
      if (opened !== null) this.epochs.set(Number(opened[1]), Number(opened[2]));
    });
  }

  static start(environment: Record<string, string>): WriterProcess {
    const child = spawn(process.execPath, [projectFile(".build", "processors", "main.js")], {
      env: { ...process.env, LOG_LEVEL: "info", ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    return new WriterProcess(child);
  }

  async untilOpen(): Promise<void> {
    await until(
      `all lanes are open:\n${this.#lines.join("\n")}`,
      () => this.epochs.size === LANES,
      {
        timeoutMs: 60_000,
        pollMs: 10,
      },
    );
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it, with -9 unless told otherwise, and waits until it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill(signal);
    await once(this.#child, "exit");
  }

  /** The last lines that contain `text`. */
  said(text: string): string[] {
    return this.#lines.filter((line) => line.includes(text));
  }
}
