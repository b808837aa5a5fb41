import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { type RunningServers, startServers } from "../services/servers.ts";
import { untilCurrent } from "../services/until-current.ts";
import { ChildServer } from "./child-server.ts";
import type { Release } from "./release-copy.ts";
import { ingressProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";

export const FLEET_ROLES = ["api", "processors", "ingress"] as const;
export type FleetRole = (typeof FLEET_ROLES)[number];

type Member = {
  readonly role: FleetRole;
  readonly release: Release;
  readonly child: ChildServer;
  /** The port of an api. */
  readonly port: number;
};

/** Processes of two releases on real servers: ingress on one port, processors that share all work, and api processes. */
export class MixedFleet {
  readonly world: TrackingWorld;
  readonly trackingPort: number;
  readonly #servers: RunningServers<"postgres" | "nats" | "clickhouse">;
  readonly #folder: string;
  #members: Member[] = [];
  #started = 0;

  private constructor(parts: {
    world: TrackingWorld;
    trackingPort: number;
    servers: RunningServers<"postgres" | "nats" | "clickhouse">;
    folder: string;
  }) {
    this.world = parts.world;
    this.trackingPort = parts.trackingPort;
    this.#servers = parts.servers;
    this.#folder = parts.folder;
  }

  /** Starts the servers with the schema of this checkout, and no process. */
  static async open(): Promise<MixedFleet> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-mixed-"));
    const servers = await startServers({
      need: ["postgres", "nats", "clickhouse"],
      isMigrated: true,
    });
    const world = await TrackingWorld.open({ servers: servers.urls, lanes: 0 });
    await ensureStreams(world.nats);
    return new MixedFleet({ world, servers, folder, trackingPort: await freePort() });
  }

  get apiPorts(): number[] {
    return this.#members.filter(({ role }) => role === "api").map(({ port }) => port);
  }

  /** Releases of the running processes of a role. */
  releasesOf(role: FleetRole): string[] {
    return this.#members.filter((one) => one.role === role).map(({ release }) => release.version);
  }

  /** Starts a process and returns once it serves. @throws with its output if it ends. */
  async start(role: FleetRole, release: Release): Promise<void> {
    const port = await freePort();
    const child = ChildServer.spawn(await programOf(role, release), this.#envOf(role, port));
    if (role === "api") await child.untilAnswering(`http://127.0.0.1:${port}/health`);
    else if (!(await child.untilRunning())) throw new Error(child.output);
    if (role !== "api") await untilCurrent(this.world, [child.opsPort]);
    this.#members.push({ role, release, child, port });
  }

  /** Starts a process and returns its exit code, for one that must refuse to run. */
  async exitCodeOf(role: FleetRole, release: Release): Promise<number | null> {
    const port = await freePort();
    return await ChildServer.spawn(await programOf(role, release), this.#envOf(role, port)).ended;
  }

  /** Ends the oldest process of a release other than `release` with SIGTERM. Returns its exit code. */
  async endOther(role: FleetRole, release: Release): Promise<number | null> {
    const old = this.#members.find(
      (one) => one.role === role && one.release.version !== release.version,
    );
    if (old === undefined) throw new Error(`no ${role} of another release runs`);
    this.#members = this.#members.filter((one) => one !== old);
    return await old.child.end("SIGTERM");
  }

  /** Runs `tracker` of a release on the stores of the fleet. */
  async tracker(
    release: Release,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly output: string }> {
    const program = join(release.root, ".build", "api", "tracker.js");
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...this.world.env, DATA_DIR: this.#folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    await once(child, "close");
    return { code: child.exitCode, output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ child }) => child.end("SIGTERM")));
    await this.world.close();
    await this.#servers.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #envOf(role: FleetRole, port: number): Record<string, string> {
    const env = { ...this.world.env, RATE_LIMIT_PER_MINUTE: "1000000" };
    if (role === "ingress") {
      return { ...env, DATA_DIR: this.#folder, TRACKING_PORT: String(this.trackingPort) };
    }
    this.#started += 1;
    const own = { ...env, DATA_DIR: join(this.#folder, `${role}-${this.#started}`) };
    return role === "api" ? { ...own, API_PORT: String(port) } : own;
  }
}

async function programOf(role: FleetRole, { root }: Release): Promise<string[]> {
  const program = join(root, ".build", role, "main.js");
  if (role !== "ingress") return [process.execPath, program];
  return [...(await ingressProgram()).slice(0, -1), program];
}
