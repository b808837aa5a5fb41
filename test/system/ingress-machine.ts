import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerUrls } from "../services/servers.ts";
import { ChildServer } from "./child-server.ts";
import type { Host } from "./host-network.ts";
import { ingressProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";
import { until } from "./until.ts";

const COPY_TIMEOUT_MS = 30_000;
const STARTS_MAX = 5;

/** Exit code of an ingress whose producer number another machine uses. */
export const EXIT_NUMBER_TAKEN = 5;

/**
 * Another machine with an ingress, on the servers of a running service. It has its own DATA_DIR and port, and a supervisor that
 * restarts the process when it exits.
 */
export class IngressMachine {
  readonly name: string;
  readonly dataDir: string;
  readonly port: number;
  /** Exit codes of processes that exited on their own. */
  readonly exits: (number | null)[] = [];
  readonly #urls: ServerUrls;
  readonly #host: Host | undefined;
  /** Further settings of its processes. A change holds from the next start on. */
  env: Readonly<Record<string, string>> = {};
  #process: ChildServer | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #output = "";
  #isKept = false;

  private constructor(parts: {
    name: string;
    dataDir: string;
    port: number;
    urls: ServerUrls;
    host: Host | undefined;
  }) {
    this.#host = parts.host;
    this.name = parts.name;
    this.dataDir = parts.dataDir;
    this.port = parts.port;
    this.#urls = parts.urls;
  }

  /**
   * `copyOf`: the DATA_DIR of another ingress whose journal folder is copied now. `host`: where it runs, by default on loopback. Starts nothing.
   */
  static async open(
    name: string,
    urls: ServerUrls,
    { copyOf, host }: { readonly copyOf?: string; readonly host?: Host } = {},
  ): Promise<IngressMachine> {
    const dataDir = await mkdtemp(join(tmpdir(), `tracker-machine-${name}-`));
    if (copyOf !== undefined) await copyJournal(copyOf, dataDir);
    return new IngressMachine({ name, dataDir, port: await freePort(), urls, host });
  }

  /** Returns once the ingress serves requests. From then on the supervisor keeps it running. */
  async start(): Promise<void> {
    this.#isKept = true;
    await this.#begin();
    this.#keeping = this.#keep();
    // `kill` and the disposal report the error, and every caller awaits one of the two.
    this.#keeping.catch(() => undefined);
  }

  /** Kills it with kill -9, and does not restart it. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** The same link on this machine. */
  linkTo(link: string): string {
    const url = new URL(link);
    if (this.#host !== undefined) url.hostname = this.#host.address;
    url.port = String(this.port);
    return url.toString();
  }

  /** The output of its processes. */
  get output(): string {
    return this.#output + (this.#process?.output ?? "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    for (let attempt = 1; attempt <= STARTS_MAX && this.#isKept; attempt += 1) {
      const program = await ingressProgram();
      this.#process = ChildServer.spawn(this.#host?.on(program) ?? program, {
        DATA_DIR: this.dataDir,
        BIND_ADDRESS: this.#host?.address ?? "127.0.0.1",
        TRACKING_PORT: String(this.port),
        TRUSTED_PROXIES: "127.0.0.1/32",
        POSTGRES_URL: this.#urls.postgres,
        NATS_URL: this.#urls.nats,
        ...this.env,
      });
      if (await this.#process.untilRunning()) return;
      await this.#noteExit(this.#process);
    }
    throw new Error(`${this.name} does not start: ${this.output}`);
  }

  async #keep(): Promise<void> {
    while (this.#isKept && this.#process !== undefined) {
      const ended = this.#process;
      await ended.ended;
      if (!this.#isKept) return;
      await this.#noteExit(ended);
      await this.#begin();
    }
  }

  async #noteExit(ended: ChildServer): Promise<void> {
    this.exits.push(await ended.ended);
    this.#output += ended.output;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isKept = false;
    await this.#process?.end(signal);
    await this.#keeping;
  }
}

/** Copies the journal of a running ingress. If a segment is removed meanwhile, the copy starts again. */
async function copyJournal(from: string, to: string): Promise<void> {
  await until(
    "the journal is copied",
    async () => {
      await rm(join(to, "journal"), { recursive: true, force: true });
      await cp(join(from, "journal"), join(to, "journal"), { recursive: true });
      return true;
    },
    { timeoutMs: COPY_TIMEOUT_MS },
  );
}
