import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { SECRETS_KEY } from "../samples/secret-keys.ts";
import { showOnFailure } from "./printing-programs.ts";
import { until } from "./until.ts";

const START_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 20_000;
const OUTPUT_CHARACTERS_MAX = 4_000;

/** A program that a test or a bench runs as a separate process. It ends with this process. */
export class ChildServer {
  /** Settles with the exit code when it has ended; null after a signal. */
  readonly ended: Promise<number | null>;
  /** The URL that {@link start} was given. */
  url = "";
  readonly #child: ChildProcess;
  #opsPort: number | undefined;
  #output = "";

  private constructor(child: ChildProcess, onLine: (line: string) => void) {
    this.#child = child;
    this.ended = new Promise((resolve) => child.once("close", resolve));
    showOnFailure({ name: child.spawnargs.slice(1).join(" "), output: () => this.#output });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        this.#opsPort ??= opsPortIn(line);
        this.#output = `${this.#output}${line}\n`.slice(-OUTPUT_CHARACTERS_MAX);
        onLine(line);
      });
    }
  }

  /** `onLine` gets each line of its output. */
  static spawn(
    [program = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>> = {},
    onLine: (line: string) => void = () => undefined,
  ): ChildServer {
    const child = spawn(program, args, {
      env: {
        FX_FEED_URL: "off",
        // Servers of a bench sync as they come.
        DURABILITY: "relaxed",
        ...process.env,
        EXIT_WITH_PARENT: "1",
        LOG_LEVEL: "info",
        OPS_PORT: "0",
        WORKERS_OPS_PORT: "0",
        ...keysFor(args, env),
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    return new ChildServer(child, onLine);
  }

  /** Spawns it and waits until `url` answers. @throws like {@link untilAnswering}, after the process has ended. */
  static async start(
    command: readonly string[],
    url: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ChildServer> {
    const server = ChildServer.spawn(command, env);
    server.url = url;
    try {
      await server.untilAnswering(url);
    } catch (error) {
      await server.end();
      throw error;
    }
    return server;
  }

  /** Waits until `url` answers with a status below 500. @throws with its last output if it ends or does not answer in time. */
  async untilAnswering(url: string): Promise<void> {
    // An idle connection would delay the end of the process.
    const options = { redirect: "manual", headers: { connection: "close" } } as const;
    await this.#until(`${url} answers`, async () => (await fetch(url, options)).status < 500);
    if (!this.isRunning) throw new Error(`ended with ${String(await this.ended)}: ${this.output}`);
  }

  /** Waits until it has logged that it runs; false if it has ended instead. Needs LOG_LEVEL info, the default here. */
  async untilRunning(): Promise<boolean> {
    await this.#until("it runs", () => this.output.includes("process.running"));
    return this.isRunning;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("it did not start");
    return this.#child.pid;
  }

  /** Its operations port, once it has logged it. Needs LOG_LEVEL info, the default here. */
  get opsPort(): number {
    if (this.#opsPort === undefined) throw new Error(`no operations port in: ${this.output}`);
    return this.#opsPort;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its last output, at most 4,000 characters. */
  get output(): string {
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it; kills it if it hangs. Returns the exit code, or null after a signal. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#child.stdin?.end();
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_TIMEOUT_MS);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }

  async #until(what: string, isUp: () => boolean | Promise<boolean>): Promise<void> {
    const command = this.#child.spawnargs.join(" ");
    try {
      await until(what, async () => !this.isRunning || (await isUp()), {
        timeoutMs: START_TIMEOUT_MS,
        pollMs: 20,
      });
    } catch (error) {
      throw new Error(`${command}: ${this.output}`, { cause: error });
    }
  }
}

function opsPortIn(line: string): number | undefined {
  const [, port] = /"opsPort":(\d+)/.exec(line) ?? [];
  return port === undefined ? undefined : Number(port);
}

/** An api does not start without a ring of keys. */
function keysFor(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const isApi = args.some((one) => one === "api" || one.endsWith("/api/main.js"));
  return isApi && env["SECRETS_KEY_FILE"] === undefined ? { SECRETS_KEY } : {};
}
