import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { startNats } from "../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { type ServerUrls, TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { freePort } from "./start-system.ts";
import { until } from "./until.ts";

const Health = z.object({ ok: z.boolean(), catalog_version: z.number() });

type Member = {
  readonly start: () => ChildProcess;
  /** Of GET /health; undefined for a process that has none. */
  readonly healthPort: number | undefined;
  child: ChildProcess;
};

/**
 * Conversion processors as real processes (`npm run build` first) around a TrackingWorld that has no lane of its own. Processes
 * can be killed at any moment; they are started again at once, as a supervisor does.
 */
export class ConversionFleet {
  readonly world: TrackingWorld;
  readonly folder: string;
  readonly #members: Member[] = [];
  readonly #stopServers: () => Promise<void>;
  #closed = false;
  kills = 0;

  private constructor(world: TrackingWorld, folder: string, stopServers: () => Promise<void>) {
    this.world = world;
    this.folder = folder;
    this.#stopServers = stopServers;
  }

  static async open(processes: number): Promise<ConversionFleet> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-fleet-"));
    const { urls, stop } = await openServers(folder);
    const world = await TrackingWorld.open({ servers: urls, lanes: 0 });
    const fleet = new ConversionFleet(world, folder, stop);
    for (let i = 0; i < processes; i += 1) await fleet.addProcessor(i);
    return fleet;
  }

  /** Answers the port of its GET /health and /metrics. */
  async addProcessor(
    number: number,
    lanes = "conversions",
    more: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const healthPort = await freePort();
    const env = {
      LANES: lanes,
      PROCESSORS_HEALTH_PORT: String(healthPort),
      EXIT_WITH_PARENT: "1",
      LOG_LEVEL: "error",
      DATA_DIR: join(this.folder, `processor-${number}`),
      ...more,
    };
    this.add([projectFile(".build", "processors", "main.js")], env, healthPort);
    return healthPort;
  }

  /** A Node process that works on the world until the fleet ends. */
  add(args: readonly string[], env: Readonly<Record<string, string>>, healthPort?: number): void {
    const start = (): ChildProcess =>
      spawn(process.execPath, args, {
        env: { ...process.env, ...this.world.env, ...env },
        stdio: ["pipe", "ignore", "inherit"],
      });
    this.#members.push({ start, healthPort, child: start() });
  }

  /** Answers when every processor works by the catalog as it is now. */
  async untilCurrent(): Promise<void> {
    const [newest] = await this.world.rows<{ version: number }>(
      "select max(version) as version from catalog_entry",
    );
    for (const { healthPort } of this.#members) {
      if (healthPort === undefined) continue;
      await until(
        "a processor works by the newest catalog",
        async () => {
          const answer = await fetch(`http://127.0.0.1:${healthPort}/health`);
          const health = Health.parse(await answer.json());
          return health.ok && health.catalog_version >= (newest?.version ?? 0);
        },
        { timeoutMs: 30_000, pollMs: 50 },
      );
    }
  }

  /** kill -9 of one process, by turns; another takes its place. */
  killOne(): void {
    const member = this.#members[this.kills % this.#members.length];
    if (member === undefined || this.#closed) return;
    this.kills += 1;
    member.child.kill("SIGKILL");
    member.child = member.start();
  }

  /** SIGSTOP of the process that was added at this place, from 0: it stands still, with all that it holds. */
  freeze(place: number): void {
    this.#members[place]?.child.kill("SIGSTOP");
  }

  /** It goes on as if no time had passed. */
  thaw(place: number): void {
    this.#members[place]?.child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#members.map(({ child }) => endChild(child)));
    await this.world.close();
    await this.#stopServers();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Those that the environment names, else started here. */
async function openServers(
  folder: string,
): Promise<{ urls: ServerUrls; stop: () => Promise<void> }> {
  const {
    TEST_POSTGRES_URL: postgresUrl,
    TEST_NATS_URL: natsUrl,
    TEST_CLICKHOUSE_URL: clickhouseUrl,
  } = process.env;
  const place = {
    dataDir: join(folder, "servers"),
    runtimeDir:
      process.env["RUNTIME_DIR"] ?? projectFile("node_modules", ".cache", "tracker-runtime"),
    bind: "127.0.0.1",
    report: { note: () => undefined, warn: () => undefined },
  };
  const stops: (() => Promise<void>)[] = [];
  const urlOf = async (
    given: string | undefined,
    start: (
      options: typeof place & { port: number },
    ) => Promise<{ url: string; stop(): Promise<void> }>,
  ): Promise<string> => {
    if (given !== undefined && given !== "") return given;
    const server = await start({ ...place, port: await freePort() });
    stops.unshift(() => server.stop());
    return server.url;
  };
  const urls = {
    postgres: await urlOf(postgresUrl, startPostgres),
    nats: await urlOf(natsUrl, startNats),
    clickhouse: await urlOf(clickhouseUrl, startClickhouse),
  };
  const stop = async (): Promise<void> => {
    for (const end of stops) await end();
  };
  return { urls, stop };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await ended;
  clearTimeout(timer);
}
