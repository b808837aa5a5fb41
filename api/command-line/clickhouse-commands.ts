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
  if (directory === undefined)
    throw new CommandError(
      "ClickHouse is a server alone and has no shards. For a cluster, set CLICKHOUSE_LAYOUT and CLICKHOUSE_CLUSTER as its processes have them.",
    );
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

export const clickhouseCommands: readonly Command[] = [moveLane];
