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

  private constructor(nodes: readonly NatsNode[], authority: Authority) {
    this.nodes = nodes;
    this.#authority = authority;
  }

  /** Starts nothing yet. */
  static async open(): Promise<NatsCluster> {
    const authority = await Authority.open();
    const { cert, key } = await authority.issue("server", "IP:127.0.0.1");
    const routePorts = await Promise.all(Array.from({ length: SIZE }, freePort));
    const routes: Record<string, string> = {};
    for (const [index, port] of routePorts.entries())
      routes[`NATS_ROUTE_${index + 1}`] = `tls://route:route-hush@127.0.0.1:${port}`;
    const nodes = await Promise.all(
      routePorts.map(
        async (port, index) =>
          await NatsNode.open({
            file: "cluster.conf",
            env: {
              NATS_NAME: `tracker-${index + 1}`,
              NATS_ZONE: `zone:${index + 1}`,
              NATS_ROUTE_LISTEN: `127.0.0.1:${port}`,
              NATS_ROUTE_PASSWORD: "route-hush",
              NATS_CA: authority.ca,
              NATS_CERT: cert,
              NATS_KEY: key,
              ...routes,
            },
          }),
      ),
    );
    return new NatsCluster(nodes, authority);
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

  /** The server with this name in NATS. */
  named(name: string): NatsNode {
    const node = this.nodes[Number(/\d+$/.exec(name)?.[0]) - 1];
    if (node === undefined) throw new Error(`no server is named ${name}`);
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.#authority[Symbol.asyncDispose]();
  }
}
