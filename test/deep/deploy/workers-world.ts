import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import { freePorts } from "../../deploy/free-ports.ts";
import { TrackingWorld } from "../../integration/conversions/tracking-world.ts";
import { type RunningServers, runtimeDir, startServers } from "../../services/servers.ts";
import { untilCurrent } from "../../services/until-current.ts";
import { ChildServer } from "../../system/child-server.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const PATIENCE_MS = 60_000;

const LogLine = z.looseObject({ msg: z.string() });
export type LogLine = z.infer<typeof LogLine>;
const Started = z.looseObject({ worker: z.int(), worker_pid: z.int() });
const Status = z.looseObject({
  ready: z.boolean(),
  stage: z.string(),
  producer: z.int().optional(),
});
export type Status = z.infer<typeof Status>;

/** `tracker ingress --workers N` and processors, as a host runs them, on real servers. Run `npm run build` first. */
export class WorkersWorld {
  readonly world: TrackingWorld;
  readonly port: number;
  readonly workers: number;
  readonly firstOpsPort: number;
  /** What parent and workers have logged. */
  readonly log: LogLine[] = [];
  readonly #servers: RunningServers<"postgres" | "nats" | "clickhouse">;
  readonly #dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #ends: (() => Promise<unknown>)[] = [];
  #parent: ChildServer | undefined;

  private constructor(parts: {
    servers: RunningServers<"postgres" | "nats" | "clickhouse">;
    world: TrackingWorld;
    port: number;
    workers: number;
    firstOpsPort: number;
    dataDir: string;
    env: Readonly<Record<string, string>>;
  }) {
    this.#servers = parts.servers;
    this.world = parts.world;
    this.port = parts.port;
    this.workers = parts.workers;
    this.firstOpsPort = parts.firstOpsPort;
    this.#dataDir = parts.dataDir;
    this.#env = parts.env;
  }

  /** Starts the servers and makes an offer; {@link start} starts the workers. */
  static async open(options: {
    readonly workers: number;
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<WorkersWorld> {
    const dataDir = await mkdtemp(join(tmpdir(), "tracker-workers-"));
    const servers = await startServers({
      need: ["postgres", "nats", "clickhouse"],
      isMigrated: true,
    });
    const world = await TrackingWorld.open({ servers: servers.urls, lanes: 0 });
    await ensureStreams(world.nats);
    await world.addOffer();
    const firstOpsPort = await freePorts(options.workers);
    const { workers } = options;
    const port = await freePort();
    const env = { ...world.env, RUNTIME_DIR: runtimeDir(), DATA_DIR: dataDir, ...options.env };
    return new WorkersWorld({ servers, world, port, workers, firstOpsPort, dataDir, env });
  }

  get parent(): ChildServer {
    if (this.#parent === undefined) throw new Error("no parent was started");
    return this.#parent;
  }

  /** Starts the parent unless it runs. Returns when all of its workers have applied the current catalog. */
  async start(): Promise<void> {
    if (this.#parent?.isRunning === true) return;
    const command = [process.execPath, projectFile(".build", "deploy", "tracker.js"), "ingress"];
    this.#parent = ChildServer.spawn(
      [...command, "--workers", String(this.workers)],
      {
        ...this.#env,
        TRACKING_PORT: String(this.port),
        OPS_PORT: String(this.firstOpsPort),
      },
      (line) => this.#note(line),
    );
    for (let worker = 0; worker < this.workers; worker += 1) {
      await until(
        `worker ${worker} serves`,
        async () => {
          if (!this.parent.isRunning) throw new Error(this.parent.output);
          return (await this.status(worker))?.ready;
        },
        { timeoutMs: PATIENCE_MS },
      );
    }
    await untilCurrent(this.world, this.opsPorts);
  }

  get opsPorts(): number[] {
    return Array.from({ length: this.workers }, (_, worker) => this.firstOpsPort + worker);
  }

  /** Starts processors that write clicks, and everything else. They end with the world. */
  async startProcessors(env: Readonly<Record<string, string>> = {}): Promise<ChildServer> {
    const processors = ChildServer.spawn(nodeProgram("processors"), { ...this.#env, ...env });
    this.#ends.push(async () => await processors.end("SIGKILL"));
    if (!(await processors.untilRunning())) throw new Error(processors.output);
    return processors;
  }

  /** What a worker says on its operations port; undefined if it does not answer. */
  async status(worker: number): Promise<Status | undefined> {
    try {
      const url = `http://127.0.0.1:${this.firstOpsPort + worker}/status`;
      const answer = await fetch(url, { headers: { connection: "close" } });
      return Status.parse(await answer.json());
    } catch {
      // It has ended or is being started.
      return undefined;
    }
  }

  /** The pid of each worker that was started, oldest first. */
  startedWorkers(): { worker: number; worker_pid: number }[] {
    return this.log
      .filter(({ msg }) => msg === "worker.started")
      .map((line) => Started.parse(line));
  }

  /** The pid of the newest process of a worker. */
  pidOf(worker: number): number {
    const pid = this.startedWorkers().findLast((one) => one.worker === worker)?.worker_pid;
    if (pid === undefined) throw new Error(`worker ${worker} was not started`);
    return pid;
  }

  /** Segments in all journal folders. */
  async segments(): Promise<string[]> {
    const files = await readdir(join(this.#dataDir, "journal"), { recursive: true });
    return files.filter((file) => file.endsWith(".wal"));
  }

  /** Ids of the stored clicks with this `sub1`. */
  async storedIds(run: string): Promise<string[]> {
    const rows = await this.world.facts<{ click_id: string }>(
      "select lower(hex(click_id)) as click_id from click where sub1 = {run: String}",
      { run },
    );
    return rows.map(({ click_id }) => click_id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parent?.end("SIGTERM");
    for (const end of this.#ends.splice(0).reverse()) await end();
    await this.world.close();
    await this.#servers.stop();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  #note(line: string): void {
    if (!line.startsWith("{")) return;
    this.log.push(LogLine.parse(JSON.parse(line)));
  }
}
