import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeBatch } from "../../schemas/events/click-batch.ts";
import { ClickRecord } from "../../schemas/events/click-record.ts";
import { streamOfLane } from "../../schemas/nats/lane-groups.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { type OwnServers, ownServers } from "../services/own-servers.ts";
import { untilCurrent } from "../services/until-current.ts";
import { ChildServer } from "./child-server.ts";
import { ingressProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";
import { until } from "./until.ts";

export type FleetOptions = {
  /** Number of ingress processes, all on one port. */
  readonly processes?: number;
  /** Number of conversion processors that run inside the test. */
  readonly lanes?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** A click record from the stream. Its position distinguishes a repeat of the record from a second click. */
export type ShippedClick = { readonly position: string; readonly click: ClickRecord };

/**
 * Real ingress processes (run `npm run build` first) on one port, with databases of their own and no click writer: tests read the recorded
 * clicks from the stream. `world` makes offers and links.
 */
export class IngressFleet {
  readonly world: TrackingWorld;
  readonly port: number;
  readonly #servers: OwnServers | undefined;
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #members = new Set<ChildServer>();
  readonly #shipped = new Map<string, ShippedClick & { readonly line: string }>();
  #nextSeq = 0;

  private constructor(parts: {
    servers: OwnServers | undefined;
    world: TrackingWorld;
    port: number;
    folder: string;
    env: Readonly<Record<string, string>>;
  }) {
    this.#servers = parts.servers;
    this.world = parts.world;
    this.port = parts.port;
    this.folder = parts.folder;
    this.#env = parts.env;
  }

  static async open(options: FleetOptions = {}): Promise<IngressFleet> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-ingress-"));
    const servers = await ownServers();
    const lanes = options.lanes ?? 0;
    const world = await TrackingWorld.open({ lanes, ...(servers && { servers: servers.urls }) });
    await ensureStreams(world.nats);
    const env = { ...world.env, ...options.env };
    const port = await freePort();
    const fleet = new IngressFleet({ servers, world, port, folder, env });
    for (let i = 0; i < (options.processes ?? 1); i += 1) await fleet.addIngress();
    return fleet;
  }

  /** Pids of the running processes. */
  get pids(): number[] {
    return [...this.#running()].map(({ pid }) => pid);
  }

  /** Operations ports of the running processes, in the order of their start. */
  get opsPorts(): number[] {
    return [...this.#running()].map(({ opsPort }) => opsPort);
  }

  /** The output of all processes, which log only errors. */
  get output(): string {
    return [...this.#members].map(({ output }) => output).join("");
  }

  /** Starts another process on the port, with further settings. Returns its pid once it serves requests. */
  async addIngress(env: Readonly<Record<string, string>> = {}): Promise<number> {
    const started = ChildServer.spawn(await ingressProgram(), {
      TRACKING_PORT: String(this.port),
      DATA_DIR: this.folder,
      ...this.#env,
      ...env,
    });
    this.#members.add(started);
    if (!(await started.untilRunning()))
      throw new Error(`ended with ${String(await started.ended)}: ${started.output}`);
    return started.pid;
  }

  /** Sends SIGTERM. Returns the exit code after the process has ended. */
  async terminate(pid: number): Promise<number | null> {
    for (const member of this.#running())
      if (member.pid === pid) return await member.end("SIGTERM");
    throw new Error(`no ingress has the pid ${pid}`);
  }

  /** Waits until every process has applied the current catalog. */
  async untilCurrent(): Promise<void> {
    await untilCurrent(this.world, this.opsPorts);
  }

  /** Each record of the stream once; a repeat has the position of the first. @throws if a repeat differs. */
  async shipped(): Promise<ShippedClick[]> {
    const manager = await this.world.nats.manager();
    const stream = await manager.streams.get(streamOfLane(this.world.nats, 0));
    const { state } = await stream.info();
    // Continues after the last message that was read before.
    for (let seq = Math.max(state.first_seq, this.#nextSeq); seq <= state.last_seq; seq += 1) {
      this.#nextSeq = seq + 1;
      const message = seq === 0 ? null : await stream.getMessage({ seq });
      if (message === null) continue;
      const batch = decodeBatch(message.data);
      for (const [index, line] of batch.lines.entries()) {
        const position = `${batch.producer}.${batch.epoch}.${batch.lane}.${batch.first + index}`;
        const known = this.#shipped.get(position);
        if (known === undefined) {
          const click = ClickRecord.parse(JSON.parse(line));
          this.#shipped.set(position, { position, click, line });
        } else if (known.line !== line) throw new Error(`two records at ${position}`);
      }
    }
    return [...this.#shipped.values()];
  }

  /** Waits until the stream has `count` clicks that `isWanted` accepts, and returns them. */
  async untilShipped(
    count: number,
    isWanted: (click: ClickRecord) => boolean,
  ): Promise<ShippedClick[]> {
    return await until(
      `${count} clicks are in the stream`,
      async () => {
        const found = (await this.shipped()).filter(({ click }) => isWanted(click));
        return found.length >= count ? found : undefined;
      },
      // Reading half a million clicks from the stream takes most of it.
      { timeoutMs: 120_000, pollMs: 200 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running()].map((member) => member.end("SIGTERM")));
    if (this.#servers === undefined) {
      const manager = await this.world.nats.manager();
      await manager.streams.delete(streamOfLane(this.world.nats, 0));
    }
    await this.world.close();
    await this.#servers?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  *#running(): Generator<ChildServer> {
    for (const member of this.#members) if (member.isRunning) yield member;
  }
}
