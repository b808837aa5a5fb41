import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { decodeBatch } from "../../../schemas/events/click-batch.ts";
import { streamOfLane } from "../../../schemas/nats/lane-groups.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import { serverUrls } from "../../services/stores.ts";
import { ChildServer } from "../../system/child-server.ts";
import { ingressProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { until } from "../../system/until.ts";
import { TrackingWorld } from "../conversions/tracking-world.ts";

export type LandingAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  readonly ms: number;
};

const Status = z.object({ healthy: z.boolean(), nats: z.boolean() });

/**
 * A real ingress (`npm run build` first) that reaches Postgres and NATS through gates. Conversion lanes, once `store` starts
 * any, reach ClickHouse through one; clicks are where `store` puts them.
 */
export class LandingOutageWorld {
  readonly store: TrackingWorld;
  readonly postgres: TcpGate;
  readonly nats: TcpGate;
  readonly clickhouse: TcpGate;
  readonly #folder: string;
  readonly #port: number;
  #ingress: ChildServer | undefined;
  #frozen: Server | undefined;
  readonly #waiting = new Set<Socket>();

  private constructor(parts: {
    store: TrackingWorld;
    gates: Record<"postgres" | "nats" | "clickhouse", TcpGate>;
    folder: string;
    port: number;
  }) {
    this.store = parts.store;
    this.postgres = parts.gates.postgres;
    this.nats = parts.gates.nats;
    this.clickhouse = parts.gates.clickhouse;
    this.#folder = parts.folder;
    this.#port = parts.port;
  }

  static async open(): Promise<LandingOutageWorld> {
    const urls = serverUrls();
    const gates = {
      postgres: await TcpGate.open(urls.postgres),
      nats: await TcpGate.open(urls.nats),
      clickhouse: await TcpGate.open(urls.clickhouse),
    };
    const servers = { ...urls, clickhouse: gates.clickhouse.urlOf(urls.clickhouse) };
    const store = await TrackingWorld.open({ lanes: 0, servers });
    await ensureStreams(store.nats);
    const folder = await mkdtemp(join(tmpdir(), "tracker-landing-"));
    return new LandingOutageWorld({ store, gates, folder, port: await freePort() });
  }

  /** Starts the ingress, again after {@link endIngress}; answers when it listens. */
  async startIngress(): Promise<void> {
    const { env } = this.store;
    this.#ingress = ChildServer.spawn(await ingressProgram(), {
      ...env,
      POSTGRES_URL: this.postgres.urlOf(env.POSTGRES_URL),
      NATS_URL: this.nats.urlOf(env.NATS_URL),
      TRACKING_PORT: String(this.#port),
      DATA_DIR: this.#folder,
    });
    if (!(await this.#ingress.untilRunning())) throw new Error(this.#ingress.output);
  }

  /** Waits until the ingress says so in its status. */
  async untilStatus(isMet: (status: z.infer<typeof Status>) => boolean): Promise<void> {
    await until(
      "the status of the ingress is as wanted",
      async () => {
        const answer = await fetch(`http://127.0.0.1:${this.#ingress?.opsPort ?? 0}/status`);
        return isMet(Status.parse(await answer.json()));
      },
      { pollMs: 20 },
    );
  }

  async post(body: unknown): Promise<LandingAnswer> {
    const startedAtMs = performance.now();
    const answer = await fetch(`http://127.0.0.1:${this.#port}/lp`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const { status, headers } = answer;
    return { status, headers, body: text, ms: performance.now() - startedAtMs };
  }

  /** From now on whoever asks ClickHouse is heard and never answered. */
  async freezeClickhouse(): Promise<void> {
    await this.clickhouse.shut();
    this.#frozen = createServer((socket) => this.#waiting.add(socket));
    await once(this.#frozen.listen(this.clickhouse.port, "127.0.0.1"), "listening");
  }

  async thawClickhouse(): Promise<void> {
    const frozen = this.#frozen;
    this.#frozen = undefined;
    for (const socket of this.#waiting) socket.destroy();
    this.#waiting.clear();
    if (frozen !== undefined) await once(frozen.close(), "close");
    await this.clickhouse.open();
  }

  /** Every record that the ingress has shipped so far, as it was written. */
  async shipped(): Promise<string[]> {
    const manager = await this.store.nats.manager();
    const stream = await manager.streams.get(streamOfLane(this.store.nats, 0));
    const { state } = await stream.info();
    const lines: string[] = [];
    for (let seq = state.first_seq; seq > 0 && seq <= state.last_seq; seq += 1) {
      const message = await stream.getMessage({ seq });
      if (message !== null) lines.push(...decodeBatch(message.data).lines);
    }
    return lines;
  }

  /** Removes the copies of the catalog that the ingress keeps; only while none runs. */
  async forgetCatalog(): Promise<void> {
    const journals = join(this.#folder, "journal");
    for (const name of await readdir(journals))
      await rm(join(journals, name, "catalog.ndjson"), { force: true });
  }

  async endIngress(): Promise<void> {
    await this.#ingress?.end();
  }

  async close(): Promise<void> {
    await this.endIngress();
    await this.store.close();
    for (const gate of [this.postgres, this.nats, this.clickhouse]) await gate.shut();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
