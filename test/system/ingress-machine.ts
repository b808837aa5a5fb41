import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerUrls } from "../services/servers.ts";
import { ChildServer } from "./child-server.ts";
import { ingressProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";
import { until } from "./until.ts";

const COPY_TIMEOUT_MS = 30_000;
const STARTS_MAX = 5;

/** Exit code of an ingress whose number belongs to another one. */
export const EXIT_NUMBER_TAKEN = 5;

/**
 * Another machine with an ingress, on the servers of a running service: a DATA_DIR and a port of its own, and a supervisor that
 * starts the process again when it ends by itself.
 */
export class IngressMachine {
  readonly name: string;
  readonly dataDir: string;
  readonly port: number;
  /** Exit codes of processes that ended by themselves. */
  readonly exits: (number | null)[] = [];
  readonly #urls: ServerUrls;
  #process: ChildServer | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #said = "";
  #isKept = false;

  private constructor(parts: { name: string; dataDir: string; port: number; urls: ServerUrls }) {
    this.name = parts.name;
    this.dataDir = parts.dataDir;
    this.port = parts.port;
    this.#urls = parts.urls;
  }

  /** `copyOf`: the DATA_DIR of another ingress, whose journal folder is copied as it is now. Nothing runs yet. */
  static async open(
    name: string,
    urls: ServerUrls,
    { copyOf }: { readonly copyOf?: string } = {},
  ): Promise<IngressMachine> {
    const dataDir = await mkdtemp(join(tmpdir(), `tracker-machine-${name}-`));
    if (copyOf !== undefined) await copyJournal(copyOf, dataDir);
    return new IngressMachine({ name, dataDir, port: await freePort(), urls });
  }

  /** Answers when it serves; from then on it is kept running. */
  async start(): Promise<void> {
    this.#isKept = true;
    await this.#begin();
    this.#keeping = this.#keep();
    // Told by `kill` and by the disposal, which everybody calls.
    this.#keeping.catch(() => undefined);
  }

  /** kill -9, and nobody starts it again. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** A link of the service, on this machine. */
  linkTo(link: string): string {
    const url = new URL(link);
    url.port = String(this.port);
    return url.toString();
  }

  /** The last of what its processes said. */
  get output(): string {
    return this.#said + (this.#process?.output ?? "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    for (let attempt = 1; attempt <= STARTS_MAX && this.#isKept; attempt += 1) {
      this.#process = ChildServer.spawn(await ingressProgram(), {
        DATA_DIR: this.dataDir,
        TRACKING_PORT: String(this.port),
        TRUSTED_PROXIES: "127.0.0.1/32",
        POSTGRES_URL: this.#urls.postgres,
        NATS_URL: this.#urls.nats,
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
    this.#said += ended.output;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isKept = false;
    await this.#process?.end(signal);
    await this.#keeping;
  }
}

/** Of a running ingress: one that removes a segment meanwhile makes the copy begin anew. */
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
