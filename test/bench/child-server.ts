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
  static async start(command: readonly string[], url: string, env: Record<string, string> = {}): Promise<ChildServer> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)));
    child.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)));
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
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended with ${child.exitCode}: ${output}`);
    return server;
  }

  /** Processor time used so far, in seconds, by the process itself. Linux. */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
  }

  /** Resident memory in bytes. Linux. */
  residentBytes(): number {
    const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"));
    return Number(match?.[1] ?? Number.NaN) * 1_024;
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

/** Of /proc/<pid>/stat: fixed at 100 on every Linux that Node supports. */
const CLOCK_TICKS = 100;
