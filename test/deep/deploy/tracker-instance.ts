import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Demo, writeDemo } from "../../../deploy/local/demo-file.ts";
import { freePorts } from "../../deploy/free-ports.ts";
import { runtimeDir } from "../../services/servers.ts";
import { freePort, type SystemPorts } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { KeptProcess } from "./kept-process.ts";

const WORKERS = 2;
const READY = { timeoutMs: 90_000 };
const HOST = "127.0.0.1";

export type InstanceServers = {
  readonly postgres: string;
  readonly clickhouse: string;
  /** The URL by role, because each may have a user of its own. */
  readonly nats: (user: "ingress" | "processors" | "api" | "operator") => string;
};

export type InstanceOptions = {
  readonly ports?: SystemPorts;
  /** Further settings of all processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further settings of ingress. */
  readonly ingressEnv?: Readonly<Record<string, string>>;
};

/**
 * The processes of an installation on servers of its own, as an operator runs them: ingress with two workers, processors in two
 * parts, and an api, each under a supervisor. `dataDir` has what tests look for: `demo.json` and `ports.json`.
 */
export class TrackerInstance {
  readonly dataDir: string;
  readonly ports: SystemPorts;
  readonly ingress: KeptProcess;
  readonly clicks: KeptProcess;
  readonly rest: KeptProcess;
  readonly api: KeptProcess;
  readonly #env: Readonly<Record<string, string>>;
  readonly #readyPorts: ReadonlyMap<KeptProcess, readonly number[]>;

  private constructor(parts: {
    servers: InstanceServers;
    dataDir: string;
    ports: SystemPorts;
    ingressOps: number;
    otherOps: readonly [number, number, number];
    env: Readonly<Record<string, string>>;
    ingressEnv: Readonly<Record<string, string>>;
  }) {
    const { servers, dataDir, ports, ingressOps, otherOps } = parts;
    const { tracking, api } = ports;
    this.dataDir = dataDir;
    this.ports = ports;
    const common = {
      POSTGRES_URL: servers.postgres,
      TRACKING_PORT: String(tracking),
      API_PORT: String(api),
      TRACKING_URL: `http://${HOST}:${tracking}`,
      API_URL: `http://${HOST}:${api}`,
      TRUSTED_PROXIES: `${HOST}/32`,
      RATE_LIMIT_PER_MINUTE: "1000000",
      DRAIN_SECONDS: "0",
      LOG_LEVEL: "warn",
      ...parts.env,
    };
    const stored = { ...common, CLICKHOUSE_URL: servers.clickhouse };
    const own = (role: string, opsPort: number): Record<string, string> => ({
      DATA_DIR: join(dataDir, role),
      OPS_PORT: String(opsPort),
    });
    this.#env = { ...stored, NATS_URL: servers.nats("operator") };
    const processors = (lanes: string, opsPort: number): KeptProcess =>
      new KeptProcess(`processors ${lanes}`, ["processors"], {
        ...stored,
        ...own(lanes, opsPort),
        NATS_URL: servers.nats("processors"),
        ROLES: lanes,
        PROCESSOR_NAME: lanes.replaceAll(",", "-"),
      });
    this.ingress = new KeptProcess("ingress", ["ingress", "--workers", String(WORKERS)], {
      ...common,
      ...own("ingress", ingressOps),
      RUNTIME_DIR: runtimeDir(),
      NATS_URL: servers.nats("ingress"),
      ...parts.ingressEnv,
    });
    this.clicks = processors("clicks", otherOps[0]);
    this.rest = processors("conversions,facts,delivery,schedule", otherOps[1]);
    this.api = new KeptProcess("api", ["api"], {
      ...stored,
      ...own("api", otherOps[2]),
      NATS_URL: servers.nats("api"),
    });
    this.#readyPorts = new Map([
      [this.ingress, Array.from({ length: WORKERS }, (_, worker) => ingressOps + worker)],
      [this.clicks, [otherOps[0]]],
      [this.rest, [otherOps[1]]],
      [this.api, [otherOps[2]]],
    ]);
  }

  /** Starts nothing. */
  static async open(
    servers: InstanceServers,
    { ports, env = {}, ingressEnv = {} }: InstanceOptions = {},
  ): Promise<TrackerInstance> {
    const dataDir = await mkdtemp(join(tmpdir(), "tracker-instance-"));
    const ingressOps = await freePorts(WORKERS);
    const instance = new TrackerInstance({
      servers,
      dataDir,
      ports: ports ?? { tracking: await freePort(), api: await freePort() },
      ingressOps,
      otherOps: [await freePort(), await freePort(), await freePort()],
      env,
      ingressEnv,
    });
    const kept = Object.fromEntries(
      Array.from({ length: WORKERS }, (_, worker) => [
        `ingress-${worker}-ops`,
        ingressOps + worker,
      ]),
    );
    await writeFile(join(dataDir, "ports.json"), JSON.stringify(kept));
    return instance;
  }

  /** Runs a command on its servers. */
  async command(...args: string[]): ReturnType<typeof trackerCommand> {
    return await trackerCommand(this.dataDir, args, this.#env);
  }

  /** As {@link command}. @throws unless it ends with code 0. */
  async run(...args: string[]): Promise<string> {
    const { code, output } = await this.command(...args);
    if (code !== 0) throw new Error(`tracker ${args.join(" ")} ended with ${code}: ${output}`);
    return output;
  }

  /** Brings the servers to this release and makes the demo workspace. */
  async prepare(): Promise<void> {
    await this.run("migrate");
    const demo = Demo.parse(JSON.parse(await this.run("demo", "--json")));
    writeDemo(join(this.dataDir, "demo.json"), demo);
  }

  get processes(): readonly KeptProcess[] {
    return [...this.#readyPorts.keys()];
  }

  /** Starts processes, all by default, and waits until each is ready. */
  async start(processes: readonly KeptProcess[] = this.processes): Promise<void> {
    for (const one of processes) one.start();
    for (const one of processes) await this.untilReady(one);
  }

  async untilReady(one: KeptProcess): Promise<void> {
    for (const port of this.#readyPorts.get(one) ?? []) {
      const isReady = async (): Promise<boolean> =>
        (await fetch(`http://${HOST}:${port}/readyz`)).status === 200;
      await until(`${one.name} is ready`, isReady, READY).catch((error: unknown) => {
        throw new Error(`${one.name}: ${one.output}`, { cause: error });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.processes) await one.end();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
