import { ClusterNodes } from "../../schemas/clickhouse/cluster.ts";
import { dropReplica, isHome, ReplicaInUseError } from "../../schemas/clickhouse/drop-replica.ts";
import { NodeDirectory, shardsOf } from "../../schemas/clickhouse/node-directory.ts";
import { pause } from "../../schemas/host/pause.ts";
import { type LanePlace, readPlace } from "../../schemas/installation/lane-place.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import type { Command, CommandEnvironment } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findServers } from "./servers.ts";

const WAIT_MS = 60_000;
const LOOK_MS = 250;
const ALONE =
  "ClickHouse is a server alone and has neither shards nor replicas. For a cluster, set CLICKHOUSE_LAYOUT and CLICKHOUSE_CLUSTER as its processes have them.";
const APPLICATION = { applicationName: "tracker command line", connectionsMax: 1 };

const moveLane: Command = {
  name: "clickhouse move-lane",
  operand: { name: "LANE", summary: "as `lanes` shows it" },
  summary: "stores the new clicks of a lane on another shard",
  options: {
    shard: { value: "SHARD", summary: "as the macros of its nodes name it", isRequired: true },
  },
  examples: ["clickhouse move-lane 3 --shard 5"],
  notes: `For a ClickHouse cluster, while the service runs. Stored clicks stay where they are, and
reports read all shards. To add a shard: start its nodes, list it in remote_servers of all
nodes, run \`migrate\`, then move lanes there. Safe to repeat: it continues to wait.`,
  run: async (given, environment, terminal) => {
    const lane = laneOf(given.operand);
    const shard = given.required("shard");
    await requireShard(environment, shard);
    return await withDatabase(environment, async (db) => {
      const before = await placeOf(db, lane);
      if (before.shard === shard && before.moveTo === null)
        return `Lane ${lane} is on shard ${shard}.`;
      await orderMove(db, lane, shard);
      if (await hasMoved(db, lane, shard))
        return `Lane ${lane} stores new clicks on shard ${shard} now${before.shard === null ? "" : `, and no longer on shard ${before.shard}`}.`;
      terminal.markFailed?.();
      return `Lane ${lane} has not moved yet. Its click writer moves it when both shards are ready: look for clicks.lane-not-moved in its log, or repeat this command.`;
    });
  },
};

function laneOf(operand: string): number {
  if (!/^\d{1,3}$/.test(operand)) throw new UsageError(`"${operand}" is not the number of a lane.`);
  return Number(operand);
}

/** @throws {CommandError} unless a node of the shard answers */
async function requireShard(
  { servers, dataDir }: CommandEnvironment,
  shard: string,
): Promise<void> {
  const { clickhouse } = findServers(["clickhouse"], servers, dataDir);
  const directory = NodeDirectory.ofCluster(clickhouse, APPLICATION);
  if (directory === undefined) throw new CommandError(ALONE);
  try {
    const shards = shardsOf(await directory.answering());
    if (!shards.includes(shard))
      throw new CommandError(
        `Nothing was changed: no node of shard ${shard} answers. These shards answer: ${shards.join(", ") || "none"}.`,
      );
  } finally {
    await directory.close();
  }
}

/** @throws {CommandError} for a lane that does not exist */
async function placeOf(db: Queryable, lane: number): Promise<LanePlace> {
  const place = await readPlace(db, lane);
  if (place === undefined)
    throw new CommandError(`There is no lane ${lane}: \`lanes\` shows all lanes.`);
  return place;
}

async function orderMove(db: Pool, lane: number, shard: string): Promise<void> {
  await db.query({
    name: "order-lane-move",
    text: "update lane_lease set move_to = $2 where lane = $1",
    values: [lane, shard],
  });
}

async function hasMoved(db: Queryable, lane: number, shard: string): Promise<boolean> {
  const untilMs = performance.now() + WAIT_MS;
  const { signal } = new AbortController();
  for (;;) {
    const place = await placeOf(db, lane);
    if (place.shard === shard && place.moveTo === null) return true;
    if (performance.now() > untilMs) return false;
    await pause(LOOK_MS, signal);
  }
}

const dropReplicaCommand: Command = {
  name: "clickhouse drop-replica",
  operand: { name: "SHARD-REPLICA", summary: "the macros of the lost node, such as 1-b" },
  summary: "makes Keeper forget a ClickHouse node that is lost, or has lost its disk",
  options: {},
  examples: ["clickhouse drop-replica 1-b"],
  notes: `For a ClickHouse cluster, with the login of \`migrate\`. Not for a node that is only away: it
would come back read-only. The rows of the lost node are on the other replicas of its shard.
To replace the node, start an empty one with the same macros and run \`migrate\`. Safe to repeat.`,
  run: async ({ operand: home }, { servers, dataDir }) => {
    if (!isHome(home))
      throw new UsageError(`"${home}" is not SHARD-REPLICA, as the macros of a node name it.`);
    const { clickhouse } = findServers(["clickhouse"], servers, dataDir);
    if (clickhouse.cluster === undefined) throw new CommandError(ALONE);
    const nodes = await ClusterNodes.open(clickhouse, APPLICATION);
    try {
      const { dropped, left } = await dropReplica(nodes.clients(), home);
      return [droppedLine(home, dropped), ...leftLines(left)].join("\n");
    } catch (error) {
      if (error instanceof ReplicaInUseError)
        throw new CommandError(`Nothing was changed: ${error.message}.`, { cause: error });
      throw error;
    } finally {
      await nodes.close();
    }
  },
};

function droppedLine(home: string, dropped: readonly string[]): string {
  return dropped.length === 0
    ? `Keeper knows no replica ${home} of the tables of the nodes that answer.`
    : `Keeper has forgotten the replica ${home} of ${dropped.join(", ")}. To replace the node, start an empty one and run \`migrate\`.`;
}

function leftLines(left: readonly string[]): string[] {
  if (left.length === 0) return [];
  return [
    "No node that answers has the following tables, so a user with all rights must run, on any node:",
    ...left.map((statement) => `  ${statement}`),
  ];
}

export const clickhouseCommands: readonly Command[] = [moveLane, dropReplicaCommand];
