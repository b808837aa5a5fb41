import { type ChildProcess, spawn } from "node:child_process";
import { askProcess, type ProcessState } from "../local/ask-process.ts";

export type WorkerExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type WorkerOptions = {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Answers 200 while the worker serves requests. */
  readonly readyUrl: string;
};

/**
 * One ingress process. It writes to the output of its parent, so the parent forwards nothing. Its standard input is a pipe that
 * the parent holds open: when the parent dies, the worker ends.
 */
export class Worker {
  readonly pid: number;
  readonly exited: Promise<WorkerExit>;
  readonly #process: ChildProcess;
  readonly #readyUrl: string;

  private constructor(process: ChildProcess, exited: Promise<WorkerExit>, readyUrl: string) {
    this.pid = process.pid ?? 0;
    this.exited = exited;
    this.#process = process;
    this.#readyUrl = readyUrl;
  }

  /** @throws when the program cannot be started at all. */
  static async start({ command, env, readyUrl }: WorkerOptions): Promise<Worker> {
    const [program, ...args] = command;
    // Its own process group: Ctrl-C at a terminal reaches the parent only, which then ends the workers.
    const child = spawn(program, args, {
      env: { ...env },
      stdio: ["pipe", "inherit", "inherit"],
      detached: true,
    });
    const exited = new Promise<WorkerExit>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    // The pipe breaks when the worker dies, which `exited` reports.
    child.stdin?.on("error", () => undefined);
    return new Worker(child, exited, readyUrl);
  }

  /** Does nothing once the worker has ended. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Asks the worker. False while it starts, drains or hangs. */
  async isReady(): Promise<boolean> {
    return (await this.ask()) === "ready";
  }

  async ask(): Promise<ProcessState> {
    return await askProcess(this.#readyUrl);
  }
}
