import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { DISTRIBUTED_TABLES } from "../../../schemas/clickhouse/layout.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { ClickWorld, type Writer } from "../../integration/clicks/click-world.ts";
import { CLUSTER, type EnginePair, withDatabase } from "../../services/engine-pair.ts";
import { createClickhouseDatabase } from "../../services/fresh-database.ts";
import type { ServerUrls, Template } from "../../services/servers.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { InsertProxy } from "./insert-proxy.ts";

const APPLICATION = { applicationName: "test", connectionsMax: 16 };
const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
/** Another writer takes the lanes of one that ended without releasing them after this time. */
const LEASE_MS = 2_000;

export type Shard = "1" | "2";

/**
 * Click writers on two shards of one replica each. The engines have no Keeper: the proxies before them say that a replica has everything, which
 * is true of the only replica of a shard. The writers know the shards by the macros of the engines.
 */
export class TwoShards implements AsyncDisposable {
  readonly world: ClickWorld;
  /** The way of the writers to each shard. */
  readonly proxies: Readonly<Record<Shard, InsertProxy>>;
  /** Straight to the engine of each shard. */
  readonly clients: Readonly<Record<Shard, Clickhouse>>;

  private constructor(
    world: ClickWorld,
    proxies: Readonly<Record<Shard, InsertProxy>>,
    clients: Readonly<Record<Shard, Clickhouse>>,
  ) {
    this.world = world;
    this.proxies = proxies;
    this.clients = clients;
  }

  /** The engines of the pair are migrated if `others` name a template. */
  static async on(
    pair: EnginePair,
    others: Omit<ServerUrls, "clickhouse"> & Template,
  ): Promise<TwoShards> {
    const [first, second] = pair.engines;
    const world = await ClickWorld.open({ ...others, clickhouse: first.url });
    const { name, clickhouseUrl } = world.database;
    const secondUrl = withDatabase(second.url, name);
    await createClickhouseDatabase(second.url, name, others.template);
    if (others.template === undefined) await migrateClickhouse({ url: secondUrl });
    const toFirst = await InsertProxy.open(clickhouseUrl);
    // Both proxies have the same port, as servers on two hosts have.
    const toSecond = await InsertProxy.open(secondUrl, Number(new URL(toFirst.url).port));
    const proxies = { "1": toFirst, "2": toSecond };
    for (const proxy of Object.values(proxies)) proxy.servesSync = true;
    const open = (url: string): Clickhouse => openClickhouse({ url, applicationName: "test" });
    const clients = { "1": open(clickhouseUrl), "2": open(secondUrl) };
    for (const client of Object.values(clients))
      for (const table of DISTRIBUTED_TABLES)
        await client.command({
          query: `create table ${table}_all as ${table}
            engine = Distributed('${CLUSTER}', currentDatabase(), '${table}', _lane)`,
        });
    return new TwoShards(world, proxies, clients);
  }

  /** CLICKHOUSE_URL of the writers: both shards through their proxies. */
  get url(): string {
    return `${this.proxies["1"].url},${this.proxies["2"].url}`;
  }

  /** A writer of all lanes. The next one of this name takes over its lanes at once. */
  async startWriter(options: { readonly pool?: Pool } = {}): Promise<Writer> {
    const server = { url: this.url, cluster: CLUSTER };
    return await this.world.startWriter({
      ...options,
      owner: "writer",
      leaseMs: LEASE_MS,
      clickhouseUrl: this.url,
      clickhouseNodes: NodeDirectory.ofCluster(server, APPLICATION),
    });
  }

  async order(lane: number, shard: Shard): Promise<void> {
    await this.world.pool.query({
      text: "update lane_lease set move_to = $2 where lane = $1",
      values: [lane, shard],
    });
  }

  async shardOf(lane: number): Promise<string | null> {
    const [row] = await this.world.rows<{ shard: string | null }>(
      "select shard from lane_lease where lane = $1",
      [lane],
    );
    return row?.shard ?? null;
  }

  async move(lane: number, shard: Shard): Promise<void> {
    await this.order(lane, shard);
    await this.untilOn(lane, shard);
  }

  async untilOn(lane: number, shard: Shard): Promise<void> {
    const isThere = async (): Promise<boolean> => (await this.shardOf(lane)) === shard;
    await until(`lane ${lane} is on shard ${shard}`, isThere, PATIENCE);
  }

  /** Runs a statement on the engine of one shard. */
  async onShard(shard: Shard, query: string): Promise<void> {
    await this.clients[shard].command({ query });
  }

  /** `tracker audit` of the rows. Returns its exit code and output. */
  async audit(...options: string[]): ReturnType<typeof trackerCommand> {
    return await trackerCommand("unused", ["audit", ...options], this.commandEnv);
  }

  /** Settings of a command on these stores. */
  get commandEnv(): Readonly<Record<string, string>> {
    const { POSTGRES_URL, NATS_URL, NATS_PREFIX } = this.world.env;
    const clickhouse = { CLICKHOUSE_LAYOUT: "cluster", CLICKHOUSE_CLUSTER: CLUSTER };
    return { POSTGRES_URL, NATS_URL, NATS_PREFIX, CLICKHOUSE_URL: this.url, ...clickhouse };
  }

  /** Rows of a statement on each shard. */
  async onBoth<Row>(query: string): Promise<[Row[], Row[]]> {
    const { clients } = this;
    return [await rowsOn<Row>(clients["1"], query), await rowsOn<Row>(clients["2"], query)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of Object.values(this.proxies)) proxy.isAway = false;
    await this.world.close();
    await Promise.all(Object.values(this.proxies).map((proxy) => proxy.close()));
    await Promise.all(Object.values(this.clients).map((client) => client.close()));
  }
}

async function rowsOn<Row>(clickhouse: Clickhouse, query: string): Promise<Row[]> {
  const answer = await clickhouse.query({ query, format: "JSONEachRow" });
  return await answer.json<Row>();
}
