import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { until } from "../system/until.ts";

/** A server under measurement, pinned to one core, ended by closing its standard input. */
export class ChildServer {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts the command and waits until `url` answers anything but 5xx. @throws with its output when it ends before. */
  static async start(
    command: readonly string[],
    url: string,
    env: Record<string, string> = {},
  ): Promise<ChildServer> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    let output = "";
    child.stdout.on(
      "data",
      (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)),
    );
    child.stderr.on(
      "data",
      (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)),
    );
    const server = new ChildServer(child, url);
    try {
      await until(
        `${program} answers on ${url}`,
        async () => {
          if (child.exitCode !== null) return true;
          return (await fetch(url, { redirect: "manual" })).status < 500;
        },
        { timeoutMs: 30_000 },
      );
    } catch (error) {
      await server.stop();
      throw new Error(`${command.join(" ")} did not answer: ${output}`, { cause: error });
    }
    if (child.exitCode !== null)
      throw new Error(`${command.join(" ")} ended with ${child.exitCode}: ${output}`);
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resident memory in bytes. Linux. */
  residentBytes(): number {
    const match = /VmRSS:\s+(\d+) kB/.exec(
      readFileSync(`/proc/${String(this.#child.pid)}/status`, "utf8"),
    );
    return Number(match?.[1] ?? Number.NaN) * 1_024;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(timer);
  }
}
