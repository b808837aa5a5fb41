import { type Host, HostNetwork } from "../../system/host-network.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { Authority } from "./certificates.ts";
import { NatsNode, type NatsUser, PASSWORDS } from "./nats-node.ts";

const SIZE = 3;
const READY_MS = 60_000;
/** The leader knows the others half a second after the cluster has one; on a busy machine a few. */
const WHOLE_MS = 15_000;
const BEGUN_MAX = 3;

/** Three real NATS servers in one cluster with TLS, as deploy/servers/nats/cluster.conf configures them. */
export class NatsCluster {
  readonly nodes: readonly NatsNode[];
  readonly #authority: Authority;
  readonly #network: HostNetwork | undefined;

  private constructor(
    nodes: readonly NatsNode[],
    authority: Authority,
    network: HostNetwork | undefined,
  ) {
    this.nodes = nodes;
    this.#authority = authority;
    this.#network = network;
  }

  /** Starts nothing yet. `hasHosts`: each server runs on a host of its own, which can be cut off; only root can make them. */
  static async open({ hasHosts = false } = {}): Promise<NatsCluster> {
    const authority = await Authority.open();
    const network = hasHosts ? await HostNetwork.open(SIZE) : undefined;
    const addresses = Array.from(
      { length: SIZE },
      (_, index) => network?.hosts[index]?.address ?? "127.0.0.1",
    );
    const names = [...new Set(addresses)].map((address) => `IP:${address}`).join(",");
    const { cert, key } = await authority.issue("server", names);
    const listeners = await Promise.all(
      addresses.map(async (address) => `${address}:${await freePort()}`),
    );
    const routes: Record<string, string> = {};
    for (const [index, listener] of listeners.entries())
      routes[`NATS_ROUTE_${index + 1}`] = `tls://route:route-hush@${listener}`;
    const nodes = await Promise.all(
      listeners.map(
        async (listener, index) =>
          await NatsNode.open({
            file: "cluster.conf",
            host: network?.hosts[index],
            env: {
              NATS_NAME: `tracker-${index + 1}`,
              NATS_ZONE: `zone:${index + 1}`,
              NATS_ROUTE_LISTEN: listener,
              NATS_ROUTE_PASSWORD: "route-hush",
              NATS_CA: authority.ca,
              NATS_CERT: cert,
              NATS_KEY: key,
              ...routes,
            },
          }),
      ),
    );
    return new NatsCluster(nodes, authority, network);
  }

  get ca(): string {
    return this.#authority.ca;
  }

  urlOf(user: NatsUser): string {
    return this.nodes.map(({ address }) => `tls://${user}:${PASSWORDS[user]}@${address}`).join(",");
  }

  /** Starts all servers at the same time. Returns as soon as they have a leader, which may not know the others yet. */
  async begin(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.start()));
    await until(
      "the cluster has a leader",
      () => this.nodes.some(({ log }) => /JetStream cluster new metadata leader/.test(log)),
      { timeoutMs: READY_MS },
    );
  }

  /** Starts all servers, and returns when the leader counts them all. */
  async start(): Promise<void> {
    await this.begin();
    await this.untilWhole();
  }

  /**
   * Waits until the leader counts all servers. When servers of 2.10.27 with empty stores start at the same time on a busy machine, NATS
   * leaves one of them out for good (6 of some 480 starts): such a cluster is begun anew.
   */
  async untilWhole(): Promise<void> {
    for (let begun = 1; !(await this.#isWholeSoon()); begun += 1) {
      if (begun === BEGUN_MAX) throw new Error(`NATS left a server out of ${begun} new clusters`);
      for (const node of this.nodes) await node.kill();
      for (const node of this.nodes) await node.wipe();
      await this.begin();
    }
  }

  /** Whether the leader counts all servers. */
  async isWhole(): Promise<boolean> {
    const followers = await Promise.all(this.nodes.map(async (node) => await node.followers()));
    return followers.includes(SIZE - 1);
  }

  async #isWholeSoon(): Promise<boolean> {
    try {
      return await until("the leader counts all servers", async () => await this.isWhole(), {
        timeoutMs: WHOLE_MS,
      });
    } catch {
      // The time is over.
      return false;
    }
  }

  /** The hosts of the other servers. */
  othersThan(node: NatsNode): readonly Host[] {
    return this.nodes.flatMap((one) => (one === node || one.host === undefined ? [] : [one.host]));
  }

  /** The server with this name in NATS. */
  named(name: string): NatsNode {
    const node = this.nodes[Number(/\d+$/.exec(name)?.[0]) - 1];
    if (node === undefined) throw new Error(`no server is named ${name}`);
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.#network?.[Symbol.asyncDispose]();
    await this.#authority[Symbol.asyncDispose]();
  }
}
