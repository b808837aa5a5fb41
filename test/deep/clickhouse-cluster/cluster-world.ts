import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { type Migrated, migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import { readPostgresMark } from "../../../schemas/installation/store-marks.ts";
import { ClickWorld, type Writer } from "../../integration/clicks/click-world.ts";
import type { ServerUrls } from "../../services/servers.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { ClickTraffic } from "../integration/clicks/click-traffic.ts";
import { CLUSTER, type RealCluster } from "./real-cluster.ts";
import type { ReplicaNode } from "./replica-node.ts";

const SYNC_S = 120;
/** As in production: an insert may take a third of the lease, and several engines share this machine. */
const LEASE_MS = 10_000;
const PATIENCE = { timeoutMs: 180_000, pollMs: 250 };
/** The clicks of a node, and how many of them differ. */
export type NodeClicks = {
  readonly rows: number;
  readonly positions: number;
  readonly ids: number;
  readonly uniques: number;
};

/** Click writers that store in a real cluster what producers publish. */
export class ClusterWorld {
  readonly world: ClickWorld;
  readonly cluster: RealCluster;

  private constructor(world: ClickWorld, cluster: RealCluster) {
    this.world = world;
    this.cluster = cluster;
  }

  static async open(
    cluster: RealCluster,
    others: Omit<ServerUrls, "clickhouse">,
  ): Promise<ClusterWorld> {
    const [first] = cluster.nodes;
    if (first === undefined) throw new Error("a cluster without nodes");
    const world = await ClickWorld.open({ ...others, clickhouse: first.urlOf("admin", "default") });
    const own = new ClusterWorld(world, cluster);
    // The world has made the tables of a server alone.
    const client = openClickhouse({
      url: first.urlOf("admin", "default"),
      applicationName: "test",
    });
    await client.command({ query: `drop database ${own.database} sync` });
    await client.close();
    await own.migrate();
    await cluster.untilWritable(own.database);
    return own;
  }

  get database(): string {
    return this.world.database.name;
  }

  get url(): string {
    return this.cluster.urlOf("admin", this.database);
  }

  async migrate(): Promise<Migrated> {
    const { incarnation: installation } = await readPostgresMark(this.world.pool);
    return await migrateClickhouse({ url: this.url, cluster: CLUSTER }, { installation });
  }

  /** A command of `tracker` on the stores of this world. */
  async tracker(...args: readonly string[]): ReturnType<typeof trackerCommand> {
    return await trackerCommand(this.cluster.folder, args, {
      ...this.world.env,
      CLICKHOUSE_URL: this.url,
      CLICKHOUSE_LAYOUT: "cluster",
      CLICKHOUSE_CLUSTER: CLUSTER,
    });
  }

  async startWriter(): Promise<Writer> {
    const server = { url: this.url, cluster: CLUSTER };
    return await this.world.startWriter({
      leaseMs: LEASE_MS,
      clickhouseUrl: this.url,
      clickhouseNodes: NodeDirectory.ofCluster(server, {
        applicationName: "test",
        connectionsMax: 16,
      }),
    });
  }

  traffic(seed: number): ClickTraffic {
    return new ClickTraffic(this.world, seed);
  }

  /** How many clicks a node has now. */
  async rowsOf(node: ReplicaNode): Promise<number> {
    const client = this.cluster.clientOf(node, this.database);
    const query = "select count() as clicks from click";
    const answer = await client.query({ query, format: "JSONEachRow" });
    const [row] = await answer.json<{ clicks: number }>();
    return row?.clicks ?? 0;
  }

  /** Waits until each of these nodes has more clicks than now. */
  async untilGrowing(nodes: readonly ReplicaNode[], when: string): Promise<void> {
    for (const node of nodes) {
      const before = await this.rowsOf(node);
      const isMore = async (): Promise<boolean> => (await this.rowsOf(node)) > before;
      await until(`${node.home} gets clicks ${when}`, isMore, PATIENCE);
    }
  }

  /** Waits until everything that the producers have recorded is acknowledged. */
  async untilStored(traffic: ClickTraffic): Promise<void> {
    for (const producer of traffic.producers)
      await this.world.untilSettled(producer, producer.lines.length, 180_000);
  }

  /** What a node has, once it has all that was acknowledged. */
  async clicksOf(node: ReplicaNode): Promise<NodeClicks> {
    const client = this.cluster.clientOf(node, this.database);
    await client.command({
      query: "system sync replica click",
      clickhouse_settings: { receive_timeout: SYNC_S },
    });
    const answer = await client.query({
      query: `select count() as rows, uniqExact(_lane, _producer, _epoch, _position) as positions,
          uniqExact(click_id) as ids, countIf(is_unique) as uniques
        from click where _lane != ${CLOSING_LANE}`,
      format: "JSONEachRow",
    });
    const [row] = await answer.json<NodeClicks>();
    if (row === undefined) throw new Error("no row to an aggregate");
    return row;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.close();
  }
}
