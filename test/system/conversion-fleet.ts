import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../../schemas/host/pause.ts";
import { TrackingWorld } from "../integration/conversions/tracking-world.ts";
import { ownServers } from "../services/own-servers.ts";
import { untilCurrent } from "../services/until-current.ts";
import { ChildServer } from "./child-server.ts";
import { nodeProgram } from "./service-program.ts";
import { freePort } from "./start-system.ts";

type Member = {
  readonly start: () => ChildServer;
  /** Undefined for a program without one. */
  readonly opsPort: number | undefined;
  child: ChildServer;
};

const READY_POLL_MS = 50;

/**
 * Conversion processors as real processes (run `npm run build` first) around a TrackingWorld without a conversion processor of its
 * own. Processes can be killed at any moment and are restarted at once, as by a supervisor.
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
    const servers = await ownServers();
    const world = await TrackingWorld.open({ lanes: 0, ...(servers && { servers: servers.urls }) });
    const fleet = new ConversionFleet(world, folder, async () => servers?.stop());
    for (let i = 0; i < processes; i += 1) await fleet.addProcessor(i);
    return fleet;
  }

  /** Returns its operations port. */
  async addProcessor(
    number: number,
    lanes = "conversions",
    more: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const opsPort = await freePort();
    const env = {
      ROLES: lanes,
      OPS_PORT: String(opsPort),
      DATA_DIR: join(this.folder, `processor-${number}`),
      ...more,
    };
    this.add(nodeProgram("processors"), env, opsPort);
    return opsPort;
  }

  /** Runs a program on the world until the fleet ends. Its output, errors only, appears in the output of the test. */
  add(command: readonly string[], env: Readonly<Record<string, string>>, opsPort?: number): void {
    const start = (): ChildServer =>
      ChildServer.spawn(command, { LOG_LEVEL: "error", ...this.world.env, ...env }, (line) => {
        process.stderr.write(`${line}\n`);
      });
    this.#members.push({ start, opsPort, child: start() });
  }

  /** Waits until every processor has applied the current catalog. */
  async untilCurrent(): Promise<void> {
    const ports = this.#members.flatMap(({ opsPort }) => opsPort ?? []);
    await untilCurrent(this.world, ports);
  }

  /** Kills one process with kill -9, each in turn, and starts another in its place. */
  killOne(): Member | undefined {
    const member = this.#members[this.kills % this.#members.length];
    if (member === undefined || this.#closed) return undefined;
    this.kills += 1;
    member.child.signal("SIGKILL");
    member.child = member.start();
    return member;
  }

  /**
   * Kills one process after `firstMs` and then one every `everyMs`, but none before the one that was killed last is ready again: on a busy
   * machine a start takes longer than `everyMs`, and soon no process would run. Returns how to stop it.
   */
  killInTurn({ firstMs, everyMs }: { readonly firstMs: number; readonly everyMs: number }): {
    stop(): Promise<void>;
  } {
    const end = new AbortController();
    const { signal } = end;
    const run = async (): Promise<void> => {
      await pause(firstMs, signal);
      while (!signal.aborted) {
        const member = this.killOne();
        await pause(everyMs, signal);
        while (member !== undefined && !signal.aborted && !(await isReady(member)))
          await pause(READY_POLL_MS, signal);
      }
    };
    const running = run();
    return {
      stop: async () => {
        end.abort();
        await running;
      },
    };
  }

  /** Sends SIGSTOP to the process that was added as number `index`, from 0: it stands still and keeps its leases and sockets. */
  freeze(index: number): void {
    this.#members[index]?.child.signal("SIGSTOP");
  }

  /** Lets it continue as if no time had passed. */
  thaw(index: number): void {
    this.#members[index]?.child.signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#members.map(({ child }) => child.end()));
    await this.world.close();
    await this.#stopServers();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function isReady({ opsPort }: Member): Promise<boolean> {
  if (opsPort === undefined) return true;
  // An idle connection would delay the end of the process.
  const headers = { connection: "close" };
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`, { headers }).catch(
    () => undefined,
  );
  return answer?.ok === true;
}
