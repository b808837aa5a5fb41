import { randomBytes } from "node:crypto";
import { commandOutput, lastLinesOf } from "../../deploy/local/command-output.ts";

const FREE_TRIES = 20;

/** A host of a test: a network namespace with an address of its own on a bridge that all hosts and this machine share. */
export class Host {
  readonly address: string;
  readonly #namespace: string;
  /** The end of its cable that is plugged into the bridge. */
  readonly #cable: string;

  constructor(parts: { address: string; namespace: string; cable: string }) {
    this.address = parts.address;
    this.#namespace = parts.namespace;
    this.#cable = parts.cable;
  }

  /** The command that runs another one on this host. */
  on(command: readonly string[]): readonly string[] {
    return ["ip", "netns", "exec", this.#namespace, ...command];
  }

  /** Unplugs its cable: nobody reaches it, and it reaches nobody. */
  async unplug(): Promise<void> {
    await ip("link", "set", this.#cable, "down");
  }

  async plugIn(): Promise<void> {
    await ip("link", "set", this.#cable, "up");
  }

  /** It and these hosts no longer reach each other. This machine still reaches all of them. */
  async cutFrom(others: readonly Host[]): Promise<void> {
    for (const { address } of others) await this.#ip("route", "add", "blackhole", `${address}/32`);
  }

  async joinWith(others: readonly Host[]): Promise<void> {
    for (const { address } of others) await this.#ip("route", "del", "blackhole", `${address}/32`);
  }

  async #ip(...args: readonly string[]): Promise<void> {
    await ip("-netns", this.#namespace, ...args);
  }
}

/** Some hosts, and the bridge between them. Only root can make them. */
export class HostNetwork {
  readonly hosts: readonly Host[];
  /** The address of this machine, as the hosts see it. */
  readonly gateway: string;
  readonly #name: string;

  private constructor(parts: { name: string; gateway: string; hosts: readonly Host[] }) {
    this.#name = parts.name;
    this.gateway = parts.gateway;
    this.hosts = parts.hosts;
  }

  /** Why this machine can make none; undefined if it can. */
  static async fault(): Promise<string | undefined> {
    try {
      await using network = await HostNetwork.open(1);
      return network.hosts.length === 1 ? undefined : "no host was made";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  static async open(count: number): Promise<HostNetwork> {
    const { name, net } = await freeNet();
    const made = Array.from({ length: count }, (_, index) => ({
      address: `${net}.${index + 1}`,
      namespace: `${name}-${index + 1}`,
      // Names of interfaces have at most 15 characters.
      cable: `${name}c${index + 1}`,
    }));
    const gateway = `${net}.254`;
    const hosts = made.map((parts) => new Host(parts));
    const network = new HostNetwork({ name, gateway, hosts });
    try {
      await ip("link", "add", name, "type", "bridge");
      await ip("address", "add", `${gateway}/24`, "dev", name);
      await ip("link", "set", name, "up");
      for (const { address, namespace, cable } of made) {
        await ip("netns", "add", namespace);
        const inside = ["peer", "name", "eth0", "netns", namespace];
        await ip("link", "add", cable, "type", "veth", ...inside);
        await ip("link", "set", cable, "master", name, "up");
        await ip("-netns", namespace, "address", "add", `${address}/24`, "dev", "eth0");
        await ip("-netns", namespace, "link", "set", "eth0", "up");
        await ip("-netns", namespace, "link", "set", "lo", "up");
      }
      return network;
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Processes that run on its hosts must have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    // What was not made is not there.
    for (let index = 1; index <= this.hosts.length; index += 1)
      await ip("netns", "del", `${this.#name}-${index}`).catch(() => undefined);
    await ip("link", "del", this.#name).catch(() => undefined);
  }
}

/** A name and the first three numbers of addresses that nothing on this machine uses. */
async function freeNet(): Promise<{ readonly name: string; readonly net: string }> {
  for (let tries = 0; tries < FREE_TRIES; tries += 1) {
    const [number = 0] = randomBytes(1);
    const net = `10.77.${number}`;
    const { stdout } = await commandOutput("ip", ["-brief", "address"]);
    if (!stdout.includes(`${net}.`)) return { name: `trk${randomBytes(2).toString("hex")}`, net };
  }
  throw new Error("no free network 10.77.x");
}

async function ip(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await commandOutput("ip", args);
  if (code !== 0) throw new Error(`ip ${args.join(" ")}: ${lastLinesOf(stderr)}`);
}
