import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { decodeBatch } from "../../schemas/events/click-batch.ts";
import { ClickRecord } from "../../schemas/events/click-record.ts";
import { clicksStream, ensureStreams } from "../../schemas/nats/streams.ts";
import { TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { type RunningServers, startServers } from "../services/servers.ts";
import { newestVersion } from "../services/until-current.ts";
import { ChildServer } from "./child-server.ts";
import { ingressProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";
import { until } from "./until.ts";

const Health = z.object({ catalog_version: z.number(), producer: z.number() });

export type FleetOptions = {
  /** Ingress processes on the one port. */
  readonly processes?: number;
  /** Conversion lanes in this process. */
  readonly lanes?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** A record as the stream carries it, and the place that tells a repetition from a second click. */
export type ShippedClick = { readonly place: string; readonly click: ClickRecord };

/**
 * Real ingress processes (`npm run build` first) on one port, with real servers behind them and no click writer: what they
 * recorded is read from the stream. Offers and links are made through `world`.
 */
export class IngressFleet {
  readonly world: TrackingWorld;
  readonly port: number;
  readonly #servers: RunningServers<"postgres" | "nats" | "clickhouse">;
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #members = new Set<ChildServer>();
  readonly #lines = new Map<string, string>();
  #nextSeq = 0;

  private constructor(parts: {
    servers: RunningServers<"postgres" | "nats" | "clickhouse">;
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
    const servers = await startServers({ need: ["postgres", "nats", "clickhouse"] });
    const world = await TrackingWorld.open({ servers: servers.urls, lanes: options.lanes ?? 0 });
    await ensureStreams(world.nats);
    const env = { ...world.env, ...options.env };
    const port = await freePort();
    const fleet = new IngressFleet({ servers, world, port, folder, env });
    for (let i = 0; i < (options.processes ?? 1); i += 1) await fleet.addIngress();
    return fleet;
  }

  /** Pids of those that were started and have not ended. */
  get pids(): number[] {
    return [...this.#running()].map(({ pid }) => pid);
  }

  /** Everything that the processes said; they say errors only. */
  get output(): string {
    return [...this.#members].map(({ output }) => output).join("");
  }

  /** One more process on the port, with settings of its own; answers its pid when it serves. */
  async addIngress(env: Readonly<Record<string, string>> = {}): Promise<number> {
    const started = ChildServer.spawn(await ingressProgram(), {
      TRACKING_PORT: String(this.port),
      DATA_DIR: this.folder,
      ...this.#env,
      ...env,
    });
    this.#members.add(started);
    if (!(await started.untilRunning())) throw new Error(`it has ended: ${started.output}`);
    return started.pid;
  }

  /** SIGTERM; answers the exit code when the process is gone. */
  async terminate(pid: number): Promise<number | null> {
    for (const member of this.#running())
      if (member.pid === pid) return await member.end("SIGTERM");
    throw new Error(`no ingress has the pid ${pid}`);
  }

  /** Waits until every process works by the catalog as it is now. */
  async untilCurrent(): Promise<void> {
    const newest = await newestVersion(this.world);
    const seen = new Set<unknown>();
    await until(
      "every ingress works by the newest catalog",
      async () => {
        // Each request is a connection of its own, and the kernel deals them out over the processes.
        const answer = await fetch(`http://127.0.0.1:${this.port}/health`, {
          headers: { connection: "close" },
        });
        const health = Health.parse(await answer.json());
        if (health.catalog_version >= newest) seen.add(health.producer);
        return seen.size >= this.pids.length;
      },
      { timeoutMs: 10_000, pollMs: 5 },
    );
  }

  /** Records of the stream, each once: a repetition has the place of the first. @throws when it says something else. */
  async shipped(): Promise<ShippedClick[]> {
    const manager = await this.world.nats.manager();
    const stream = await manager.streams.get(clicksStream(this.world.nats));
    const { state } = await stream.info();
    // What was read before is not read again.
    for (let seq = Math.max(state.first_seq, this.#nextSeq); seq <= state.last_seq; seq += 1) {
      this.#nextSeq = seq + 1;
      const message = seq === 0 ? null : await stream.getMessage({ seq });
      if (message === null) continue;
      const batch = decodeBatch(message.data);
      for (const [index, line] of batch.lines.entries()) {
        const place = `${batch.producer}.${batch.epoch}.${batch.lane}.${batch.first + index}`;
        const known = this.#lines.get(place);
        if (known !== undefined && known !== line) throw new Error(`two records at ${place}`);
        this.#lines.set(place, line);
      }
    }
    return [...this.#lines].map(([place, line]) => ({
      place,
      click: ClickRecord.parse(JSON.parse(line)),
    }));
  }

  /** Waits until the stream holds `count` clicks that `isWanted`, and answers them. */
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
      { timeoutMs: 30_000, pollMs: 200 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running()].map((member) => member.end("SIGTERM")));
    await this.world.close();
    await this.#servers.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  *#running(): Generator<ChildServer> {
    for (const member of this.#members) if (member.isRunning) yield member;
  }
}
