import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { natsGreeting } from "../../../deploy/local/embedded-nats.ts";
import { natsProgram } from "../../../deploy/local/nats-program.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { runtimeDir, testReport } from "../../services/servers.ts";
import { ChildServer } from "../../system/child-server.ts";
import type { Host } from "../../system/host-network.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

/** A server that does not lead the group lists no replicas. */
const JetStreamReport = z.looseObject({
  meta_cluster: z.looseObject({ replicas: z.array(z.looseObject({})).optional() }).optional(),
});

const LOOPBACK = "127.0.0.1";
const START_MS = 30_000;
const CONFIGURATION = [
  "one.conf",
  "cluster.conf",
  "accounts.conf",
  "limits.conf",
  "permissions.conf",
];

/** Passwords of the users in deploy/servers/nats/accounts.conf. */
export const PASSWORDS = {
  ingress: "ingress-hush",
  processors: "processors-hush",
  api: "api-hush",
  operator: "operator-hush",
  sys: "sys-hush",
} as const;
export type NatsUser = keyof typeof PASSWORDS;

type NodeOptions = {
  /** The text of a configuration for this test, or the name of a file of deploy/servers/nats/. */
  readonly config?: string;
  readonly file?: "one.conf" | "cluster.conf";
  /** Instead of deploy/servers/nats/permissions.conf. */
  readonly permissions?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs; by default on loopback. */
  readonly host?: Host | undefined;
};

/** A real nats-server of a test which it kills, freezes, wipes and starts again on the same port and store. */
export class NatsNode {
  readonly port: number;
  readonly folder: string;
  readonly host: Host | undefined;
  readonly #env: Readonly<Record<string, string>>;
  readonly #file: string;
  #process: ChildServer | undefined;
  #log = "";

  private constructor(parts: {
    port: number;
    folder: string;
    file: string;
    env: Readonly<Record<string, string>>;
    host: Host | undefined;
  }) {
    this.host = parts.host;
    this.port = parts.port;
    this.folder = parts.folder;
    this.#file = parts.file;
    this.#env = parts.env;
  }

  static async open({
    config,
    file = "one.conf",
    permissions,
    env = {},
    host,
  }: NodeOptions = {}): Promise<NatsNode> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-nats-node-"));
    for (const name of CONFIGURATION) {
      await copyFile(projectFile("deploy", "servers", "nats", name), join(folder, name));
    }
    if (config !== undefined) await writeFile(join(folder, file), config);
    if (permissions !== undefined) await writeFile(join(folder, "permissions.conf"), permissions);
    const port = await freePort();
    const address = host?.address ?? LOOPBACK;
    const node = new NatsNode({
      port,
      host,
      folder,
      file: join(folder, file),
      env: {
        NATS_LISTEN: `${address}:${port}`,
        NATS_MONITOR: `${address}:${await freePort()}`,
        NATS_STORE: join(folder, "store"),
        NATS_STORE_BYTES: "100GB",
        ...Object.fromEntries(
          Object.entries(PASSWORDS).map(([user, password]) => [
            `NATS_${user.toUpperCase()}_PASSWORD`,
            password,
          ]),
        ),
        ...env,
      },
    });
    return node;
  }

  /** What it has logged. */
  get log(): string {
    return this.#log;
  }

  get address(): string {
    return `${this.host?.address ?? LOOPBACK}:${this.port}`;
  }

  get store(): string {
    return join(this.folder, "store");
  }

  urlOf(user: NatsUser): string {
    return `nats://${user}:${PASSWORDS[user]}@${this.address}`;
  }

  /** How many other servers it counts in the group that decides where streams are; undefined unless it leads that group. */
  async followers(): Promise<number | undefined> {
    const answer = await fetch(`http://${this.#env["NATS_MONITOR"] ?? ""}/jsz`);
    return JetStreamReport.parse(await answer.json()).meta_cluster?.replicas?.length;
  }

  async start(): Promise<void> {
    const program = await natsProgram({ runtimeDir: runtimeDir(), report: testReport() });
    // The server ends with this process, however that ends.
    const own = ["setpriv", "--pdeathsig", "KILL", "--", program, "--config", this.#file];
    const command = this.host?.on(own) ?? own;
    const started = ChildServer.spawn(command, this.#env, (line) => {
      this.#log = `${this.#log}${line}\n`.slice(-200_000);
    });
    this.#process = started;
    await until(
      "nats-server answers",
      async () => {
        return (
          !started.isRunning ||
          (await natsGreeting(this.host?.address ?? LOOPBACK, this.port)) !== undefined
        );
      },
      { timeoutMs: START_MS },
    );
    if (!started.isRunning) throw new Error(`nats-server has ended: ${started.output}`);
  }

  /** Sends kill -9. Returns when it has ended. */
  async kill(): Promise<void> {
    await this.#process?.end("SIGKILL");
  }

  freeze(): void {
    if (this.#process !== undefined) process.kill(this.#process.pid, "SIGSTOP");
  }

  thaw(): void {
    if (this.#process !== undefined) process.kill(this.#process.pid, "SIGCONT");
  }

  /** Removes the store of a stopped server. */
  async wipe(): Promise<void> {
    await rm(this.store, { recursive: true, force: true });
  }

  /** Replaces a text in the configuration, which a running server then reads again. */
  async reconfigure(from: string, to: string): Promise<void> {
    const before = await readFile(this.#file, "utf8");
    await writeFile(this.#file, before.replaceAll(from, to));
    if (this.#process !== undefined) process.kill(this.#process.pid, "SIGHUP");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process?.isRunning === true) this.thaw();
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
