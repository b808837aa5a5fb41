import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { HostNetwork } from "../../system/host-network.ts";
import { until } from "../../system/until.ts";
import { ReplicaNode } from "./replica-node.ts";
import { Zookeeper, zookeeperFolder } from "./zookeeper.ts";

/** As in cluster.xml. */
export const CLUSTER = "tracker";
const KEEPERS = 3;
const PATIENCE = { timeoutMs: 180_000, pollMs: 250 };

/**
 * A real ClickHouse cluster with the configuration of deploy/servers/clickhouse. Each node and each Keeper has a host of its own, which can be
 * cut off. The nodes are embedded engines made replicas (library-patches.ts), the Keepers are ZooKeeper.
 */
export class RealCluster implements AsyncDisposable {
  readonly nodes: readonly ReplicaNode[];
  readonly keepers: readonly Zookeeper[];
  readonly #network: HostNetwork;
  readonly folder: string;
  readonly #clients = new Set<Clickhouse>();

  private constructor(parts: {
    nodes: readonly ReplicaNode[];
    keepers: readonly Zookeeper[];
    network: HostNetwork;
    folder: string;
  }) {
    this.nodes = parts.nodes;
    this.keepers = parts.keepers;
    this.#network = parts.network;
    this.folder = parts.folder;
  }

  /**
   * `shards`: how many replicas each shard has. `smallDiskMb`: the disk of the last node.
   *
   * @throws an error that names what this machine lacks: root, Java, Maven.
   */
  static async start(
    shards: readonly number[],
    { smallDiskMb }: { readonly smallDiskMb?: number } = {},
  ): Promise<RealCluster> {
    const program = await zookeeperFolder();
    const count = shards.reduce((sum, replicas) => sum + replicas, 0);
    const network = await openNetwork(count + KEEPERS);
    const folder = await mkdtemp(join(tmpdir(), "tracker-cluster-"));
    const hosts = network.hosts.slice(0, count);
    const keeperHosts = network.hosts.slice(count);
    const keepers = await Promise.all(
      keeperHosts.map(
        async (_, index) =>
          await Zookeeper.open(join(folder, `keeper${index + 1}`), {
            hosts: keeperHosts,
            index,
            program,
          }),
      ),
    );
    const places = shards.flatMap((replicas, shard) =>
      Array.from({ length: replicas }, (_, replica) => ({
        shard: String(shard + 1),
        replica: String.fromCodePoint(97 + replica),
      })),
    );
    const addresses = hosts.map(({ address }) => address);
    let taken = 0;
    const byShard = shards.map((replicas) => addresses.slice(taken, (taken += replicas)));
    const plan = {
      config: clusterConfig(byShard),
      shards: byShard,
      environment: {
        ...numbered("CLICKHOUSE_NODE", byShard[0] ?? []),
        ...numbered(
          "CLICKHOUSE_KEEPER",
          keeperHosts.map(({ address }) => address),
        ),
        CLICKHOUSE_CLUSTER_SECRET: "cluster-secret",
        CLICKHOUSE_INTERSERVER_PASSWORD: "interserver-secret",
      },
    };
    const nodes = places.map((place, index) => {
      const host = hosts[index];
      if (host === undefined) throw new Error("fewer hosts than nodes");
      return new ReplicaNode(join(folder, `node-${place.shard}-${place.replica}`), plan, {
        host,
        ...place,
      });
    });
    const cluster = new RealCluster({ nodes, keepers, network, folder });
    try {
      await cluster.#begin(smallDiskMb);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** CLICKHOUSE_URL of a login. */
  urlOf(user: string, database: string): string {
    return this.nodes.map((node) => node.urlOf(user, database)).join(",");
  }

  /** A client that reads the rows of one node. Closed with the cluster. */
  clientOf(node: ReplicaNode, database: string): Clickhouse {
    const client = openClickhouse({
      url: node.urlOf("admin", database),
      cluster: CLUSTER,
      isOneNode: true,
      applicationName: "test",
    });
    this.#clients.add(client);
    return client;
  }

  /** A killed node starts again, and answers. */
  async restart(node: ReplicaNode): Promise<void> {
    node.start();
    await node.untilAnswering();
  }

  /** The node and the Keepers no longer reach each other. Other nodes still do. */
  async cutFromKeepers(node: ReplicaNode): Promise<void> {
    await node.host.cutFrom(this.keepers.map(({ host }) => host));
  }

  async joinWithKeepers(node: ReplicaNode): Promise<void> {
    await node.host.joinWith(this.keepers.map(({ host }) => host));
  }

  /** Waits until the tables of all nodes take writes. */
  async untilWritable(database: string): Promise<void> {
    for (const node of this.nodes) {
      const client = this.clientOf(node, database);
      await until(
        `the tables of ${node.home} take writes`,
        async () => {
          const answer = await client.query({
            query: `select countIf(is_readonly) as readonly, count() as tables from system.replicas
              where database = currentDatabase()`,
            format: "JSONEachRow",
          });
          const [row] = await answer.json<{ readonly: number; tables: number }>();
          return row !== undefined && row.readonly === 0 && row.tables > 0;
        },
        PATIENCE,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.close()));
    await Promise.all(this.nodes.map((node) => node.close()));
    await Promise.all(this.keepers.map((keeper) => keeper.close()));
    await this.#network[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #begin(smallDiskMb: number | undefined): Promise<void> {
    for (const keeper of this.keepers) keeper.start();
    for (const [index, node] of this.nodes.entries()) {
      await mkdir(node.store, { recursive: true });
      await node.prepare(index === this.nodes.length - 1 ? smallDiskMb : undefined);
      node.start();
    }
    for (const node of this.nodes) await node.untilAnswering();
    for (const keeper of this.keepers) await keeper.untilServing();
  }
}

async function openNetwork(hosts: number): Promise<HostNetwork> {
  try {
    return await HostNetwork.open(hosts);
  } catch (error) {
    throw new Error(
      "a real ClickHouse cluster needs hosts of its own: run the test as root, with iproute2 (`ip netns`)",
      { cause: error },
    );
  }
}

/** deploy/servers/clickhouse/cluster.xml. For several shards the element `shard` is repeated with the names of its nodes, as its head says. */
function clusterConfig(shards: readonly (readonly string[])[]): string {
  const shipped = readFileSync(
    projectFile("deploy", "servers", "clickhouse", "cluster.xml"),
    "utf8",
  );
  if (shards.length === 1 && shards[0]?.length === 3) return shipped;
  const element = /<shard>\s*<!--[\s\S]*?<\/shard>/;
  if (!element.test(shipped)) throw new Error("cluster.xml has no element `shard`");
  const written = shards.map((hosts) => {
    const replicas = hosts.map(
      (host) => `<replica><host>${host}</host><port>9000</port></replica>`,
    );
    return `<shard><internal_replication>true</internal_replication>${replicas.join("")}</shard>`;
  });
  return shipped.replace(element, written.join("\n      "));
}

function numbered(name: string, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(values.map((value, index) => [`${name}_${index + 1}`, value]));
}
