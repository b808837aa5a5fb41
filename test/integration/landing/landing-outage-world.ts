import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ingressNodeCommand, type NodeCommand } from "../../../deploy/local/private-glibc.ts";
import { decodeBatch } from "../../../schemas/events/click-batch.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { clicksStream, ensureStreams } from "../../../schemas/nats/streams.ts";
import { runtimeDir, testReport } from "../../services/servers.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { TcpGate } from "../conversions/tcp-gate.ts";
import { serverUrls, TrackingWorld } from "../conversions/tracking-world.ts";

export type LandingAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  readonly ms: number;
};

const Health = z.object({ ok: z.boolean(), nats: z.boolean() });
const START_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 20_000;
const OUTPUT_CHARACTERS_MAX = 4_000;

/**
 * A real ingress (`npm run build` first) that reaches Postgres and NATS through gates. Conversion lanes, once `store` starts
 * any, reach ClickHouse through one; clicks are where `store` puts them.
 */
export class LandingOutageWorld {
  readonly store: TrackingWorld;
  readonly postgres: TcpGate;
  readonly nats: TcpGate;
  readonly clickhouse: TcpGate;
  readonly #node: NodeCommand;
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #output = "";
  #frozen: Server | undefined;
  readonly #waiting = new Set<Socket>();

  private constructor(parts: {
    store: TrackingWorld;
    gates: Record<"postgres" | "nats" | "clickhouse", TcpGate>;
    node: NodeCommand;
    folder: string;
    port: number;
  }) {
    this.store = parts.store;
    this.postgres = parts.gates.postgres;
    this.nats = parts.gates.nats;
    this.clickhouse = parts.gates.clickhouse;
    this.#node = parts.node;
    this.#folder = parts.folder;
    this.#port = parts.port;
  }

  static async open(): Promise<LandingOutageWorld> {
    const urls = serverUrls();
    const gates = {
      postgres: await gateTo(urls.postgres, "5432"),
      nats: await gateTo(urls.nats, "4222"),
      clickhouse: await gateTo(urls.clickhouse, "8123"),
    };
    const clickhouseUrl = gates.clickhouse.urlOf(urls.clickhouse);
    const store = await TrackingWorld.open({ lanes: 0, clickhouseUrl });
    await ensureStreams(store.nats);
    const node = await ingressNodeCommand({ runtimeDir: runtimeDir(), report: testReport() });
    const folder = await mkdtemp(join(tmpdir(), "tracker-landing-"));
    return new LandingOutageWorld({ store, gates, node, folder, port: await freePort() });
  }

  /** Starts the ingress, again after {@link endIngress}; answers when it listens. */
  async startIngress(): Promise<void> {
    const { command, args } = this.#node;
    const { POSTGRES_URL = "", NATS_URL = "" } = this.store.env;
    const child = spawn(command, [...args, projectFile(".build", "ingress", "main.js")], {
      env: {
        ...process.env,
        ...this.store.env,
        POSTGRES_URL: this.postgres.urlOf(POSTGRES_URL),
        NATS_URL: this.nats.urlOf(NATS_URL),
        TRACKING_PORT: String(this.#port),
        DATA_DIR: this.#folder,
        LOG_LEVEL: "info",
        EXIT_WITH_PARENT: "1",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.#output = "";
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    await until(
      "the ingress runs",
      () => {
        if (child.exitCode !== null) throw new Error(this.#output);
        return this.#output.includes("process.running");
      },
      { timeoutMs: START_TIMEOUT_MS, pollMs: 20 },
    );
  }

  /** Waits until the ingress says so in its health answer. */
  async untilHealth(isMet: (health: z.infer<typeof Health>) => boolean): Promise<void> {
    await until(
      "the health of the ingress is as wanted",
      async () => {
        const answer = await fetch(`http://127.0.0.1:${this.#port}/health`);
        return isMet(Health.parse(await answer.json()));
      },
      { timeoutMs: 15_000, pollMs: 20 },
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
    const stream = await manager.streams.get(clicksStream(this.store.nats));
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
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await this.endIngress();
    await this.store.close();
    for (const gate of [this.postgres, this.nats, this.clickhouse]) await gate.shut();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function gateTo(server: string, defaultPort: string): Promise<TcpGate> {
  const { hostname, port } = new URL(server);
  return await TcpGate.open({ host: hostname, port: Number(port || defaultPort) });
}
