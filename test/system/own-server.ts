import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { startNats } from "../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { copyMigratedData } from "../services/migrated-data.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { findProcesses, killJob } from "./processes.ts";

const STARTS = { postgres: startPostgres, nats: startNats, clickhouse: startClickhouse } as const;
const BIND = "127.0.0.1";

type StoreName = keyof typeof STARTS;

/**
 * One real server that a test stops, damages and restarts on the same port, URL and data. `startSystem` gets its URL, so that the
 * launcher does not start one of its own.
 */
export class OwnServer {
  readonly name: StoreName;
  readonly dataDir: string;
  readonly #port: number;
  readonly #copies: string;
  #running: EmbeddedServer;

  private constructor(parts: {
    name: StoreName;
    dataDir: string;
    copies: string;
    port: number;
    running: EmbeddedServer;
  }) {
    this.name = parts.name;
    this.dataDir = parts.dataDir;
    this.#copies = parts.copies;
    this.#port = parts.port;
    this.#running = parts.running;
  }

  /** Postgres and ClickHouse start with the migrated data of the run. `isEmpty`: on an empty folder, as at a first start. */
  static async open(
    name: StoreName,
    { isEmpty = false }: { readonly isEmpty?: boolean } = {},
  ): Promise<OwnServer> {
    const dataDir = await mkdtemp(join(tmpdir(), `tracker-own-${name}-`));
    const copies = await mkdtemp(join(tmpdir(), `tracker-copies-${name}-`));
    if (name !== "nats" && !isEmpty)
      await copyMigratedData(dataDir, [name], { runtimeDir: runtimeDir(), report: testReport() });
    const port = await pickPort(BIND);
    const running = await startOn(name, dataDir, port);
    return new OwnServer({ name, dataDir, copies, port, running });
  }

  get url(): string {
    return this.#running.url;
  }

  get port(): number {
    return this.#port;
  }

  /** Where the server keeps its data. */
  get folder(): string {
    return join(this.dataDir, this.name);
  }

  /** Stops it cleanly. */
  async stop(): Promise<void> {
    await this.#running.stop();
  }

  /** Sends kill -9 to every process of the server. Returns when all are gone. */
  async kill(): Promise<void> {
    await killJob(this.dataDir, this.name);
    await this.#running.stop();
  }

  async start(): Promise<void> {
    this.#running = await startOn(this.name, this.dataDir, this.#port);
  }

  /** Sends a signal to the server itself, not to the process that watches it. */
  async signal(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    for (const pid of await findProcesses(this.dataDir, this.name)) process.kill(pid, signal);
  }

  /** Copies the data of a stopped or frozen server, with owners and times. */
  async save(label: string): Promise<void> {
    await rm(join(this.#copies, label), { recursive: true, force: true });
    copy(this.folder, join(this.#copies, label));
  }

  /** A server on a copy of this server's data, passwords included, as a snapshot of the disk has it. This server is frozen meanwhile. */
  async clone(): Promise<OwnServer> {
    const dataDir = await mkdtemp(join(tmpdir(), `tracker-own-${this.name}-`));
    await this.signal("SIGSTOP");
    try {
      await rm(dataDir, { recursive: true });
      copy(this.dataDir, dataDir);
    } finally {
      await this.signal("SIGCONT");
    }
    for (const own of ["run", "logs", join(this.name, "postmaster.pid")]) {
      await rm(join(dataDir, own), { recursive: true, force: true });
    }
    const copies = await mkdtemp(join(tmpdir(), `tracker-copies-${this.name}-`));
    const port = await pickPort(BIND);
    const running = await startOn(this.name, dataDir, port);
    return new OwnServer({ name: this.name, dataDir, copies, port, running });
  }

  /** Replaces the data of a stopped server with a copy. */
  async restore(label: string): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    copy(join(this.#copies, label), this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.signal("SIGCONT");
    await this.stop();
    await rm(this.dataDir, { recursive: true, force: true });
    await rm(this.#copies, { recursive: true, force: true });
  }
}

async function startOn(name: StoreName, dataDir: string, port: number): Promise<EmbeddedServer> {
  return await STARTS[name]({
    dataDir,
    port,
    runtimeDir: runtimeDir(),
    bind: BIND,
    report: testReport(),
  });
}

function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
  if (status !== 0) throw new Error(`cp -a ${from} ${to}: ${stderr}`);
}
