import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ClusterWatch } from "../../../api/workspace/system/cluster-watch.ts";
import { findingsOf } from "../../../schemas/checks/check.ts";
import { CLICKHOUSE_CHECKS } from "../../../schemas/checks/clickhouse-checks.ts";
import { ClusterNodes } from "../../../schemas/clickhouse/cluster.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { deduplicatedInsert } from "../../../schemas/clickhouse/deduplicated-insert.ts";
import { dropReplica } from "../../../schemas/clickhouse/drop-replica.ts";
import { clickhouseCode, isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { RELAXED } from "../../samples/durability.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startServers } from "../../services/servers.ts";
import { SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { trafficExpected } from "../integration/clicks/click-traffic.ts";
import { ClusterWorld } from "./cluster-world.ts";
import { CLUSTER, RealCluster } from "./real-cluster.ts";
import type { ReplicaNode } from "./replica-node.ts";

vi.setConfig({ testTimeout: 600_000 });

/** A fault lasts longer than a session of Keeper, so it is noticed. */
const FAULT_MS = 14_000;
const CALM_MS = 2_000;
const INSERT_MS = 5_000;
const FULL_DISK = "a full disk";
const NOT_ENOUGH_SPACE = "243";
const DISK_MB = 400;
const PATIENCE = { timeoutMs: 180_000, pollMs: 500 };
/** Time in which a majority goes on while a fault lasts, on a busy machine. */
const SERVING = { timeoutMs: 60_000, pollMs: 500 };

const servers = await startServers({ need: ["postgres", "nats"], isMigrated: true });
await forThisFile({ close: () => servers.stop() });
const cluster = await forThisFile(RealCluster.start([3], { smallDiskMb: DISK_MB }));
const world = await forThisFile(ClusterWorld.open(cluster, servers.urls));
const [a, b, c] = threeNodes();
await world.startWriter();
/** Comes until the last test. */
const traffic = world.traffic(SEED);
traffic.start();

function threeNodes(): readonly [ReplicaNode, ReplicaNode, ReplicaNode] {
  const [first, second, third] = cluster.nodes;
  if (first === undefined || second === undefined || third === undefined)
    throw new Error("a shard of three");
  return [first, second, third];
}

/** Whether a quorum acknowledges an insert through a node. */
async function isAcknowledged(node: ReplicaNode): Promise<boolean> {
  const client = openClickhouse({
    url: node.urlOf("admin", world.database),
    cluster: CLUSTER,
    isOneNode: true,
    applicationName: "test",
    requestTimeoutMs: 2 * INSERT_MS,
  });
  try {
    await client.insert({
      table: "insert_trial",
      values: [{ trial: crypto.randomUUID() }],
      format: "JSONEachRow",
      clickhouse_settings: deduplicatedInsert(crypto.randomUUID(), {
        layout: "cluster",
        timeoutMs: INSERT_MS,
      }),
    });
    return true;
  } catch (error) {
    // Each refusal is an outage for our processes, which goes on to be tried; a full disk is one of this node.
    if (isClickhouseAway(error) || clickhouseCode(error) === NOT_ENOUGH_SPACE) return false;
    throw error;
  } finally {
    await client.close();
  }
}

async function untilAcknowledged(
  node: ReplicaNode,
  when: string,
  patience: typeof PATIENCE = PATIENCE,
): Promise<void> {
  await until(
    `${node.home} has an insert acknowledged: ${when}`,
    () => isAcknowledged(node),
    patience,
  );
}

test("three replicas with the shipped configuration pass the checks of strict (C1, C2, C3)", async () => {
  const client = openClickhouse({ url: world.url, cluster: CLUSTER, applicationName: "test" });
  try {
    const sources = { durability: RELAXED, clickhouse: client, clickWriter: client };
    const findings = await findingsOf(CLICKHOUSE_CHECKS, sources, 60_000);
    const judged = findings.map(({ check: { id }, ...judgement }) => ({ id, ...judgement }));
    expect(judged).toEqual(["C1", "C3", "C2"].map((id) => ({ id, faults: [] })));
  } finally {
    await client.close();
  }
});

test("nodes that are away, without Keeper, frozen or behind are counted, and no well one is", async () => {
  const reader = openClickhouse({ url: world.url, cluster: CLUSTER, applicationName: "test" });
  const metrics = new Metrics();
  const log = openLog({ process: "test", level: "silent" });
  const tell = async (node: ReplicaNode, query: string): Promise<unknown> =>
    await cluster.clientOf(node, world.database).command({ query });
  const often = { askEveryMs: 500, delaySecondsMax: 2 };
  const watch = ClusterWatch.start({ clickhouse: reader, log, metrics, ...often });
  const untilUnwell = async (when: string, expected: Readonly<Record<string, number>>) => {
    const lines = Object.entries(expected).map(
      ([state, nodes]) => `tracker_clickhouse_nodes_unwell{state="${state}"} ${nodes}`,
    );
    const shown = (): string[] => metrics.render().split("\n");
    await until(when, () => lines.every((line) => shown().includes(line)), PATIENCE);
  };
  const well = { away: 0, readonly: 0, behind: 0 };
  try {
    await untilUnwell("all are well", well);
    await a.kill();
    await untilUnwell("one is killed", { ...well, away: 1 });
    await cluster.restart(a);
    await untilUnwell("it is back", well);
    b.signal("SIGSTOP");
    // The others wait for it, so that no more is known.
    await untilUnwell("one is frozen", { away: 1 });
    b.signal("SIGCONT");
    await untilUnwell("it goes on", well);
    await cluster.cutFromKeepers(b);
    // It also learns of no new parts.
    await untilUnwell("one has no Keeper", { away: 0, readonly: 1 });
    await cluster.joinWithKeepers(b);
    await untilUnwell("it has one again", well);
    await tell(c, "system stop fetches");
    await untilUnwell("one fetches nothing", { ...well, behind: 1 });
    await tell(c, "system start fetches");
    await untilUnwell("it has fetched", well);
    const text = metrics.render();
    expect(text.match(/^tracker_clickhouse_nodes_unwell\{.*\} 0$/gm)).toHaveLength(3);
  } finally {
    b.signal("SIGCONT");
    watch.close();
    await reader.close();
  }
});

/** What happens to the cluster while clicks come, one after the other. */
const FAULTS: readonly {
  readonly name: string;
  readonly hurt: () => Promise<void> | void;
  readonly cure: () => Promise<void> | void;
  /** A majority is left, which acknowledges. */
  readonly isServing: boolean;
}[] = [
  {
    name: "kill -9 of a replica",
    hurt: async () => await a.kill(),
    cure: async () => await cluster.restart(a),
    isServing: true,
  },
  {
    name: "a frozen replica",
    hurt: () => b.signal("SIGSTOP"),
    cure: () => b.signal("SIGCONT"),
    isServing: true,
  },
  {
    name: "a cut cable",
    hurt: async () => await a.host.unplug(),
    cure: async () => await a.host.plugIn(),
    isServing: true,
  },
  {
    name: "a replica without Keeper",
    hurt: async () => await cluster.cutFromKeepers(b),
    cure: async () => await cluster.joinWithKeepers(b),
    isServing: true,
  },
  {
    name: FULL_DISK,
    hurt: () => fillDisk(c),
    cure: async () => await rm(join(c.store, "filler")),
    isServing: true,
  },
  {
    name: "two of three replicas frozen",
    hurt: () => signalAll([a, b], "SIGSTOP"),
    cure: () => signalAll([a, b], "SIGCONT"),
    isServing: false,
  },
  {
    name: "two of three Keepers frozen",
    hurt: () => signalAll(cluster.keepers.slice(0, 2), "SIGSTOP"),
    cure: () => signalAll(cluster.keepers.slice(0, 2), "SIGCONT"),
    isServing: false,
  },
];

function signalAll(
  programs: readonly { signal(signal: "SIGSTOP" | "SIGCONT"): void }[],
  signal: "SIGSTOP" | "SIGCONT",
): void {
  for (const program of programs) program.signal(signal);
}

function fillDisk({ store }: ReplicaNode): void {
  const filler = [`of=${join(store, "filler")}`, "oflag=append", "conv=notrunc"];
  const { status } = spawnSync("dd", ["if=/dev/zero", ...filler, "bs=4K"]);
  // It ends because nothing is left.
  expect(status).toBe(1);
}

test("clicks are acknowledged while a majority of replicas and Keepers is left, and never without one", async () => {
  for (const { name, hurt, cure, isServing } of FAULTS) {
    await pause(CALM_MS);
    await hurt();
    try {
      await pause(FAULT_MS);
      // Parts that were merged meanwhile have left room.
      if (name === FULL_DISK) fillDisk(c);
      const isRefused = !isServing || name === FULL_DISK;
      expect(isRefused && (await isAcknowledged(c)), name).toBe(false);
      if (isServing) await untilAcknowledged(name === FULL_DISK ? b : c, name, SERVING);
    } finally {
      await cure();
    }
    await untilAcknowledged(b, `after ${name}`);
  }
});

test("an emptied node is rebuilt by drop-replica and migrate, with the login of migrate (G260, G261)", async () => {
  const server = { url: cluster.urlOf("tracker_migrate", "tracker"), cluster: CLUSTER };
  const options = { installation: "logins" };
  await migrateClickhouse(server, options);
  await c.kill();
  await c.empty();
  await cluster.restart(c);
  await expect(migrateClickhouse(server, options)).rejects.toThrow(
    /has lost the table .*: run `tracker clickhouse drop-replica 1-c`, then `tracker migrate` again/,
  );
  const refused = await world.tracker("clickhouse", "drop-replica", "1-a");
  expect([refused.code, refused.output]).toEqual([
    1,
    expect.stringMatching(/Nothing was changed: the node \S+ has the macros 1-a/),
  ]);
  await world.untilGrowing([a, b], "beside an empty node");
  const nodes = await ClusterNodes.open(server, { applicationName: "test" });
  try {
    const { dropped, left } = await until(
      "Keeper has noticed that the node has ended",
      () => dropReplica(nodes.clients(), c.home),
      PATIENCE,
    );
    expect([dropped.length, left]).toEqual([9, []]);
  } finally {
    await nodes.close();
  }
  const { made } = await migrateClickhouse(server, options);
  expect(made).toContain(`click on ${c.host.address}`);
  const drop = await world.tracker("clickhouse", "drop-replica", "1-c");
  expect([drop.code, drop.output]).toEqual([
    0,
    expect.stringContaining("forgotten the replica 1-c"),
  ]);
  const migrated = await world.tracker("migrate");
  expect([migrated.code, migrated.output]).toEqual([
    0,
    expect.stringContaining(`click on ${c.host.address}`),
  ]);
  await world.untilGrowing([c], "as a rebuilt node");
});

test("after all of it each replica has each click once, and each visit is unique once (P9)", async () => {
  await traffic.stop();
  await world.untilStored(traffic);
  const { rows, positions, ids, uniques } = trafficExpected(traffic);
  for (const node of cluster.nodes)
    expect(await world.clicksOf(node), node.home).toEqual({ rows, positions, ids, uniques });
});
