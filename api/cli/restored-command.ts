import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { repeatAllErasures } from "../../schemas/erasure/erasures.ts";
import { forgetFreeProducers } from "../../schemas/installation/free-producers.ts";
import { renewIncarnation } from "../../schemas/installation/incarnation.ts";
import { readLanes, restoreLanes } from "../../schemas/installation/lane-count.ts";
import { type Lifted, liftSequences } from "../../schemas/installation/sequences.ts";
import { readClickhouseMark, readPostgresMark } from "../../schemas/installation/store-marks.ts";
import { StreamMarks } from "../../schemas/installation/stream-marks.ts";
import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { forgetAcknowledged } from "../../schemas/nats/lane-consumer.ts";
import { recentProducers } from "../../schemas/nats/recent-producers.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { Command, CommandArguments, CommandEnvironment } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { holdDeliveries } from "./delivery-hold.ts";
import { noteInAllWorkspaces } from "./note-in-all-workspaces.ts";
import { changedBefore, highestLane, liveWriters, raiseLaneEpochs } from "./restored-store.ts";
import { findServers } from "./servers.ts";

/** For statements that read every click because no projection serves them. */
const REQUEST_TIMEOUT_MS = 900_000;
const STORES = ["postgres", "clickhouse", "both"] as const;
type Restored = (typeof STORES)[number];

export const restoredCommand: Command = {
  name: "restored",
  summary: "run after a restore from a backup: prevents reuse of numbers and ids",
  options: {
    postgres: { summary: "Postgres was restored" },
    clickhouse: { summary: "ClickHouse was restored" },
    both: { summary: "both were restored" },
    "hold-deliveries": { summary: "no postback or webhook is sent until `deliveries release`" },
  },
  examples: ["restored --postgres", "restored --both --hold-deliveries"],
  notes: `Steps of a restore: 1 stop processors and api; ingress goes on and answers from memory.
2 restore. 3 \`migrate\`. 4 this command. 5 start processors, then api.
6 \`audit --repair\`. 7 \`deliveries release\`, if they were held. It raises
every id sequence above what ClickHouse and the streams know, raises the epochs
of the click writers and gives all stores a new incarnation. After a restore of
ClickHouse the writers read the streams from their beginning. Safe to run twice.
Deliveries that were sent after the backup are due again: hold them to compare
them with the logs of your partners first.
Never restore journal folders: attach the originals.`,
  run: async (given, environment) => {
    const what = restoredOf(given);
    return await withDatabase(
      environment,
      async (db) =>
        await withClickhouse(environment, async (clickhouse) => {
          await refuseLiveWriters(db);
          // First, so that nothing is sent if a later step fails and processors are started anyway.
          if (given.has("hold-deliveries")) await holdDeliveries(db, "tracker restored");
          return await withNats(environment, async (nats) => {
            const lines = await cure({ db, clickhouse, nats }, what);
            if (given.has("hold-deliveries")) {
              lines.push("Deliveries are held: `deliveries release` sends them.");
            }
            return lines.join("\n");
          });
        }),
    );
  },
};

/** Returns what a person should read. */
async function cure(
  { db, clickhouse, nats }: { db: Pool; clickhouse: Clickhouse; nats: Nats },
  what: Restored,
): Promise<string[]> {
  const others = { clickhouse, streams: new StreamMarks(() => nats) };
  const cut = await readPostgresMark(db);
  const mark = await readClickhouseMark(clickhouse);
  const lines: string[] = [];
  if (what !== "clickhouse") {
    const producers = await recentProducers(nats);
    lines.push(...liftedLines(await liftSequences(db, others, { after: "restore", producers })));
  }
  const { from, to } = await restoreLanes(db, await highestLane(clickhouse));
  if (from !== to)
    lines.push(`Click lanes: ${to}, because ClickHouse has clicks of them. Postgres had ${from}.`);
  if (what !== "postgres") {
    // If both stores were restored, they agree with each other, and nothing shows which clicks are missing. So the writers must
    // read the streams from the beginning.
    for (const lane of (await readLanes(db)).all) await forgetAcknowledged(nats, lane);
  }
  const free = await forgetFreeProducers(db);
  if (free > 0)
    lines.push(`${free} unused producer numbers are checked again before they are given out.`);
  const lanes = await raiseLaneEpochs(db, clickhouse);
  lines.push(
    ...lanes.map(({ lane, epoch }) => `Lane ${lane}: the next writer has epoch ${epoch + 1}.`),
    `Incarnation: ${await renewIncarnation(db, others, cut.life)} in all stores.`,
  );
  if (what !== "clickhouse") lines.push(...(await reviewLines(db, cut.at, mark?.at)));
  lines.push(erasureLine(await repeatAllErasures(db), what));
  await noteInAllWorkspaces(db, `cli restored --${what}`);
  lines.push("Start processors, then api.");
  if (what !== "postgres") {
    lines.push("The click writers read the streams from the beginning to find missing clicks.");
  }
  return lines;
}

function restoredOf(given: CommandArguments): Restored {
  const [what, ...others] = STORES.filter((store) => given.has(store));
  if (what === undefined || others.length > 0) {
    throw new UsageError("Say which store was restored: --postgres, --clickhouse or --both.");
  }
  return what;
}

async function withClickhouse(
  { servers, dataDir }: CommandEnvironment,
  work: (clickhouse: Clickhouse) => Promise<string>,
): Promise<string> {
  const { clickhouse: server } = findServers(["clickhouse"], servers, dataDir);
  const clickhouse = openClickhouse({
    ...server,
    applicationName: "tracker restored",
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  try {
    return await work(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

async function refuseLiveWriters(db: Pool): Promise<void> {
  const writers = await liveWriters(db);
  if (writers.length === 0) return;
  throw new CommandError(
    `Nothing was changed: click writers are running (${writers.join(", ")}). Stop processors and api, then run it again.`,
  );
}

async function withNats<T>(
  { servers, dataDir, natsSpace }: CommandEnvironment,
  work: (nats: Nats) => Promise<T>,
): Promise<T> {
  const { nats: server } = findServers(["nats"], servers, dataDir);
  const nats = await connectNats({ ...server, name: "tracker restored", ...natsSpace });
  try {
    return await work(nats);
  } finally {
    await nats.connection.close();
  }
}

function liftedLines(lifted: readonly Lifted[]): string[] {
  return lifted.map(({ name, from, to }) => `Sequence ${name}: ${from} -> ${to}`);
}

function erasureLine(count: number, what: Restored): string {
  const lost =
    what === "clickhouse" ? "" : " Erasures made after the backup are lost: repeat them.";
  return `${count} erasures are due again; the role schedule repeats them.${lost}`;
}

/** Lists what a person should check: revoked keys are valid again, and changes made after the backup are undone. */
async function reviewLines(
  db: Pool,
  cutAt: string,
  recordedAt: string | undefined,
): Promise<string[]> {
  if (cutAt === "-infinity") return [];
  const { keys, partners } = await changedBefore(db, cutAt);
  return [
    `Postgres is as it was at ${cutAt}${recordedAt === undefined ? "" : `; ClickHouse last received a mark from it at ${recordedAt} UTC`}.`,
    "Changes made in between are undone: keys that were revoked in that time are valid again.",
    ...keys.map(({ id, name, workspace }) => `Review key ${id} (${name}) of ${workspace}.`),
    ...partners.map(({ id, name, workspace }) => `Review partner ${id} (${name}) of ${workspace}.`),
  ];
}
