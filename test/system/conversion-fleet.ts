import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { startServers } from "../services/servers.ts";
import { untilCurrent } from "../services/until-current.ts";
import { ChildServer } from "./child-server.ts";
import { nodeProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";

type Member = {
  readonly start: () => ChildServer;
  /** Of GET /health; undefined for a process that has none. */
  readonly healthPort: number | undefined;
  child: ChildServer;
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
    const servers = await startServers({ need: ["postgres", "nats", "clickhouse"] });
    const world = await TrackingWorld.open({ servers: servers.urls, lanes: 0 });
    const fleet = new ConversionFleet(world, folder, () => servers.stop());
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
      DATA_DIR: join(this.folder, `processor-${number}`),
      ...more,
    };
    this.add(nodeProgram("processors"), env, healthPort);
    return healthPort;
  }

  /** A program that works on the world until the fleet ends. Its errors appear in the output of the test. */
  add(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    healthPort?: number,
  ): void {
    const start = (): ChildServer =>
      ChildServer.spawn(command, { LOG_LEVEL: "error", ...this.world.env, ...env }, (line) => {
        process.stderr.write(`${line}\n`);
      });
    this.#members.push({ start, healthPort, child: start() });
  }

  /** Answers when every processor works by the catalog as it is now. */
  async untilCurrent(): Promise<void> {
    const ports = this.#members.flatMap(({ healthPort }) => healthPort ?? []);
    await untilCurrent(this.world, ports);
  }

  /** kill -9 of one process, by turns; another takes its place. */
  killOne(): void {
    const member = this.#members[this.kills % this.#members.length];
    if (member === undefined || this.#closed) return;
    this.kills += 1;
    member.child.signal("SIGKILL");
    member.child = member.start();
  }

  /** SIGSTOP of the process that was added at this place, from 0: it stands still, with all that it holds. */
  freeze(place: number): void {
    this.#members[place]?.child.signal("SIGSTOP");
  }

  /** It goes on as if no time had passed. */
  thaw(place: number): void {
    this.#members[place]?.child.signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#members.map(({ child }) => child.end()));
    await this.world.close();
    await this.#stopServers();
    await rm(this.folder, { recursive: true, force: true });
  }
}
