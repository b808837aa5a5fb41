import { type Host, HostNetwork } from "../system/host-network.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { Authority } from "./certificates.ts";
import { NatsNode, type NatsUser, PASSWORDS } from "./nats-node.ts";

const SIZE = 3;
const READY_MS = 60_000;

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

  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.start()));
    await until(
      "the cluster has a leader",
      () => this.nodes.some(({ log }) => /JetStream cluster new metadata leader/.test(log)),
      { timeoutMs: READY_MS },
    );
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
