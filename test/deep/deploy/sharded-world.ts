import { ClusterNodes } from "../../../schemas/clickhouse/cluster.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { DISTRIBUTED_TABLES } from "../../../schemas/clickhouse/layout.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { type LedgerRow, ReportWorld, type Seed } from "../../integration/reports/report-world.ts";
import { CLUSTER, type EnginePair, withDatabase } from "../../services/engine-pair.ts";
import { createClickhouseDatabase } from "../../services/fresh-database.ts";
import type { ServerUrls, Template } from "../../services/servers.ts";
import { type OpenStores, openStores } from "../../services/stores.ts";

const APPLICATION = { applicationName: "test" };

type Parts = { readonly seed: Seed; readonly secret: string; readonly nodes: ClusterNodes };

/**
 * A world of reports whose ClickHouse is a cluster of two engines. Clicks and impressions are split by their lane, and each engine has all
 * facts, as replicated tables would. The operations ask the first engine.
 */
export class ShardedWorld extends ReportWorld {
  readonly #nodes: ClusterNodes;

  private constructor(stores: OpenStores, parts: Parts) {
    super(stores, parts);
    this.#nodes = parts.nodes;
    this.atEnd(() => parts.nodes.close());
  }

  /** The engines of the pair are migrated if `others` name a template. */
  static async on(
    pair: EnginePair,
    others: Omit<ServerUrls, "clickhouse"> & Template,
  ): Promise<ShardedWorld> {
    const [first, second] = pair.engines;
    const stores = await openStores({
      label: "sharded",
      servers: { ...others, clickhouse: first.url },
    });
    const { name } = stores.database;
    await createClickhouseDatabase(second.url, name, others.template);
    if (others.template === undefined)
      await migrateClickhouse({ url: withDatabase(second.url, name) });
    const server = { url: pair.urlOf(name), cluster: CLUSTER };
    const nodes = await ClusterNodes.open(server, APPLICATION);
    for (const { client } of nodes.clients())
      for (const table of DISTRIBUTED_TABLES)
        await client.command({
          query: `create table ${table}_all as ${table}
            engine = Distributed('${CLUSTER}', currentDatabase(), '${table}', _lane)`,
        });
    await stores.clickhouse.close();
    const clickhouse = openClickhouse({ ...server, ...APPLICATION });
    const opened = { ...stores, clickhouse };
    return new ShardedWorld(opened, { ...(await ReportWorld.seeded(opened)), nodes });
  }

  override async insertRows(
    table: "click" | "impression" | "conversion_fact" | "ad_cost_fact",
    rows: readonly LedgerRow[],
  ): Promise<void> {
    const isSpread = table === "click" || table === "impression";
    for (const [shard, { client }] of this.#nodes.clients().entries()) {
      const own = rows.map((row, index) => ({ ...row, _lane: index % 4 }));
      await this.insertInto(
        client,
        table,
        isSpread ? own.filter(({ _lane }) => _lane % 2 === shard) : rows,
      );
    }
  }

  /** Runs a statement on one shard, counted from 0. */
  async onShard(shard: number, query: string): Promise<void> {
    await this.#nodes.clients()[shard]?.client.command({ query });
  }
}
