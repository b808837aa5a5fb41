import { LANE_COUNTS } from "../../schemas/events/lanes.ts";
import { pause } from "../../schemas/host/pause.ts";
import {
  LanesInUseError,
  raiseLanes,
  readLanes,
  readWaitingLanes,
} from "../../schemas/installation/lane-count.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { rangesOf } from "../workspace/system/status/lanes-line.ts";
import { readProducers } from "../workspace/system/status/producers.ts";
import type { Command } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { JSON_OUTPUT } from "./options.ts";
import { table } from "./table.ts";

const WAIT_MS = 60_000;
const LOOK_MS = 250;

type LaneRow = {
  readonly lane: number;
  readonly owner: string;
  readonly lanes: number;
  readonly parent: number | null;
  /** Shard of a ClickHouse cluster; null on a server alone. */
  readonly shard: string | null;
  readonly moveTo: string | null;
};

const list: Command = {
  name: "lanes",
  summary: "lanes of clicks, their writers, and which wait for another lane",
  options: JSON_OUTPUT,
  examples: ["lanes"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const { count } = await readLanes(db);
      const rows = await readRows(db);
      if (given.has("json")) return JSON.stringify({ lanes: count, rows }, null, 2);
      return table(
        [
          { title: "LANE", value: ({ lane }) => lane },
          { title: "WRITER", value: ({ owner }) => owner || "none" },
          ...(rows.some(({ shard }) => shard !== null) ? [SHARD] : []),
          { title: "STATE", value: (row) => stateOf(row, count) },
        ],
        rows,
        "There is no lane: no click writer has started yet.",
      );
    }),
};

const SHARD = {
  title: "SHARD",
  value: ({ shard, moveTo }: LaneRow): string =>
    moveTo === null ? (shard ?? "none") : `${shard ?? "none"}, moves to ${moveTo}`,
};

async function readRows(db: Queryable): Promise<LaneRow[]> {
  const { rows } = await db.query<LaneRow>({
    name: "list-lanes",
    text: `select lane, owner, lanes, parent, shard, move_to as "moveTo" from lane_lease order by lane`,
  });
  return rows;
}

function stateOf({ lane, lanes, parent }: LaneRow, count: number): string {
  if (lane >= 100 || lanes === count) return "open";
  if (lanes === 0) return `waits for lane ${parent ?? "?"}`;
  return "still has offers of lanes that were added";
}

const raise: Command = {
  name: "lanes raise",
  summary: "adds click lanes while the service runs",
  options: {
    to: { value: "N", summary: LANE_COUNTS.slice(1).join(", "), isRequired: true },
    yes: { summary: "also while an ingress is silent: the new lanes then wait for it" },
  },
  examples: ["lanes raise --to 16"],
  notes: `Every offer moves to lane ID modulo N; stored clicks and their ids stay. A new lane opens
when every ingress uses it and the lane of its offers before has stored their clicks.
Until then, at least two seconds, lists of clicks and look-ups by an ad ID answer 503,
and clicks wait in NATS. Safe to repeat: it continues to wait. Lanes are never removed.`,
  run: async (given, environment, terminal) => {
    const to = Number(given.text("to"));
    if (!LANE_COUNTS.includes(to))
      throw new UsageError(`--to ${given.text("to") ?? ""}: write ${LANE_COUNTS.join(", ")}.`);
    return await withDatabase(environment, async (db) => {
      const isNew = (await readLanes(db)).count !== to;
      if (isNew && !given.has("yes")) await refuseSilent(db);
      const { from } = await raised(db, to);
      if (from !== to) terminal.report(`The installation had ${from} click lanes and has ${to}.`);
      const waiting = await untilOpen(db, to);
      if (waiting.length === 0) return `All ${to} click lanes are open.`;
      terminal.markFailed?.();
      return `Lanes ${rangesOf(waiting)} still wait. \`producer list\` shows an ingress that is silent; see \`lanes\`, or repeat this command.`;
    });
  },
};

/** @throws {CommandError} */
async function raised(db: Pool, to: number): Promise<{ readonly from: number }> {
  try {
    return await raiseLanes(db, to);
  } catch (error) {
    if (error instanceof LanesInUseError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

/** Earlier clicks of a silent ingress would belong to lanes that have left their offers. @throws {CommandError} */
async function refuseSilent(db: Pool): Promise<void> {
  const silent = (await readProducers(db)).filter(({ state }) => state === "silent");
  if (silent.length === 0) return;
  const names = silent.map(({ id, host }) => `${id} on ${host}`).join(", ");
  throw new CommandError(
    `Nothing was changed: the ingress ${names} is silent, and new lanes would wait for its clicks. Start it, run \`journal ship\` there, or \`producer give-up\`; or repeat with --yes.`,
  );
}

async function untilOpen(db: Pool, count: number): Promise<readonly number[]> {
  const untilMs = performance.now() + WAIT_MS;
  const { signal } = new AbortController();
  for (;;) {
    const waiting = await readWaitingLanes(db, count);
    if (waiting.length === 0 || performance.now() > untilMs) return waiting;
    await pause(LOOK_MS, signal);
  }
}

export const laneCommands: readonly Command[] = [list, raise];
