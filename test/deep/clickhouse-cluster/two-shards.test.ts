import { expect, test, vi } from "vitest";
import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startServers } from "../../services/servers.ts";
import { SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { trafficExpected } from "../integration/clicks/click-traffic.ts";
import { ClusterWorld, type NodeClicks } from "./cluster-world.ts";
import { CLUSTER, RealCluster } from "./real-cluster.ts";
import type { ReplicaNode } from "./replica-node.ts";

vi.setConfig({ testTimeout: 600_000 });

/** Longer than a session of Keeper. */
const FAULT_MS = 14_000;
const CALM_MS = 2_000;

const servers = await startServers({ need: ["postgres", "nats"], isMigrated: true });
await forThisFile({ close: () => servers.stop() });
const cluster = await forThisFile(RealCluster.start([2, 2]));
const world = await forThisFile(ClusterWorld.open(cluster, servers.urls));
const [a1, b1, a2, b2] = fourNodes();
await world.startWriter();
/** Comes until the last test. */
const traffic = world.traffic(SEED);
traffic.start();

function fourNodes(): readonly [ReplicaNode, ReplicaNode, ReplicaNode, ReplicaNode] {
  const [first, second, third, fourth] = cluster.nodes;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    throw new Error("two shards of two");
  return [first, second, third, fourth];
}

/** Clicks over all shards, through a node; undefined while it refuses to answer. */
async function allClicks(node: ReplicaNode): Promise<number | undefined> {
  const url = node.urlOf("admin", world.database);
  const client = openClickhouse({ url, cluster: CLUSTER, applicationName: "test" });
  try {
    const answer = await client.query({
      query: `select count() as clicks from click_all where _lane != ${CLOSING_LANE}`,
      format: "JSONEachRow",
    });
    const [row] = await answer.json<{ clicks: number }>();
    return row?.clicks;
  } catch (error) {
    if (isClickhouseAway(error)) return undefined;
    throw error;
  } finally {
    await client.close();
  }
}

test("lanes of a shard without its quorum wait, and those of the other shard go on", async () => {
  await world.untilGrowing(cluster.nodes, "at first");
  await a1.kill();
  await pause(FAULT_MS);
  const waiting = await world.rowsOf(b1);
  await world.untilGrowing([a2, b2], "without 1-a");
  expect(await world.rowsOf(b1)).toBe(waiting);
  await cluster.restart(a1);
  await world.untilGrowing(cluster.nodes, "with 1-a again");
});

test("without a shard reports are refused, and never smaller", async () => {
  await Promise.all([a2.kill(), b2.kill()]);
  await pause(CALM_MS);
  expect(await allClicks(a1)).toBeUndefined();
  await Promise.all([cluster.restart(a2), cluster.restart(b2)]);
  await world.untilGrowing(cluster.nodes, "with the second shard again");
  expect(await allClicks(a1)).toBeGreaterThan(0);
});

test("a frozen majority of Keepers stops all shards, and nothing that they acknowledge then is lost", async () => {
  const frozen = cluster.keepers.slice(1);
  for (const keeper of frozen) keeper.signal("SIGSTOP");
  await pause(FAULT_MS);
  const stopped = await Promise.all(cluster.nodes.map((node) => world.rowsOf(node)));
  await pause(CALM_MS);
  expect(await Promise.all(cluster.nodes.map((node) => world.rowsOf(node)))).toEqual(stopped);
  for (const keeper of frozen) keeper.signal("SIGCONT");
  await world.untilGrowing(cluster.nodes, "with Keeper again");
});

test("an emptied replica of two gets its rows back by drop-replica and migrate (G260, G261)", async () => {
  await b2.kill();
  await b2.empty();
  await cluster.restart(b2);
  await until(
    "Keeper has noticed that the node has ended, and forgets its replica",
    async () => {
      const { output } = await world.tracker("clickhouse", "drop-replica", b2.home);
      return output.includes("forgotten the replica 2-b");
    },
    { timeoutMs: 120_000, pollMs: 2_000 },
  );
  const migrated = await world.tracker("migrate");
  expect([migrated.code, migrated.output]).toEqual([
    0,
    expect.stringContaining(`click on ${b2.host.address}`),
  ]);
  await world.untilGrowing(cluster.nodes, "with a rebuilt 2-b");
});

test("after all of it each shard has its clicks once on both replicas, and each visit is unique once (P9)", async () => {
  await traffic.stop();
  await world.untilStored(traffic);
  const counts: NodeClicks[] = [];
  for (const node of cluster.nodes) counts.push(await world.clicksOf(node));
  const [first, , second] = counts;
  expect(counts).toEqual([first, first, second, second]);
  const { rows, positions, ids, uniques } = trafficExpected(traffic);
  const sum = (of: keyof NodeClicks): number => (first?.[of] ?? 0) + (second?.[of] ?? 0);
  expect({
    rows: sum("rows"),
    positions: sum("positions"),
    ids: sum("ids"),
    uniques: sum("uniques"),
  }).toEqual({ rows, positions, ids, uniques });
  expect(await allClicks(b1)).toBe(rows);
});
