import { pause } from "../../../schemas/host/pause.ts";
import { readHeartbeats } from "../../../schemas/installation/heartbeat.ts";
import { askProcesses, type ProcessStatus } from "../../../schemas/installation/process-status.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { readProducers } from "../../workspace/system/status/producers.ts";
import { duration, numberIn, plural } from "../../workspace/system/status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

/** A live process writes its heartbeat every 10 s. */
const ALIVE_SECONDS = 30;
/** Clicks are stored within seconds. */
const UNSTORED_SECONDS_MAX = 60;
/** A change of the catalog is in force within a second; a process that starts needs longer. */
const CATALOG_PATIENCE_MS = 10_000;
const POLL_MS = 500;

/** No journal holds clicks that nobody ships, or that have waited too long. */
export async function auditJournals(
  { stores: { db } }: AuditContext,
  nats: Nats,
): Promise<Finding> {
  const processes = await askAll(db, nats);
  const ingress = processes.filter(({ role }) => role === "ingress");
  const live = new Set(ingress.map((one) => numberIn(one, "producer")));
  const silent = (await readProducers(db)).filter(
    ({ id, state }) => state === "silent" && !live.has(id),
  );
  const waiting = ingress.filter(
    (one) => numberIn(one, "oldest_unstored_seconds") > UNSTORED_SECONDS_MAX,
  );
  const unstored = ingress.reduce((sum, one) => sum + numberIn(one, "unstored_records"), 0);
  return found(`${plural(ingress.length, "journal")}, ${unstored} clicks on their way`, [
    ...silent.map(
      ({ id, host, lastWordAt }) =>
        `Producer ${id} on ${host} has been silent since ${lastWordAt ?? "its start"}: its journal may hold clicks. Start it again, or ship its journal.`,
    ),
    ...waiting.map(
      (one) =>
        `${one.name} has ${numberIn(one, "unstored_records")} clicks that are not stored, the oldest for ${duration(numberIn(one, "oldest_unstored_seconds"))}. Look at the click writers with \`tracker status\`.`,
    ),
  ]);
}

/** Every process that decides has the newest catalog of this Postgres in force (G206). */
export async function auditCatalog(
  { stores: { db }, signal }: AuditContext,
  nats: Nats,
): Promise<Finding> {
  const head = await readHead(db);
  const endMs = systemClock.nowMs() + CATALOG_PATIENCE_MS;
  for (;;) {
    const processes = (await askAll(db, nats)).filter(
      (one) => one["catalog_version"] !== undefined,
    );
    const marks = await readMarks(db, processes);
    const details = processes.flatMap((one) => catalogFault(one, head, marks));
    if (details.length === 0 || systemClock.nowMs() >= endMs) {
      return found(
        `version ${head} in ${plural(processes.length, "process", "processes")}`,
        details,
      );
    }
    await pause(POLL_MS, signal);
    signal.throwIfAborted();
  }
}

function catalogFault(
  one: ProcessStatus,
  head: number,
  marks: ReadonlyMap<string, number>,
): string[] {
  const version = numberIn(one, "catalog_version");
  const mark = one["catalog_mark"];
  if (version < head)
    return [`${one.name} on ${one.host} has catalog version ${version}, Postgres has ${head}.`];
  const began = typeof mark === "string" ? marks.get(mark) : undefined;
  if (began === undefined || began > version) {
    return [`${one.name} on ${one.host} has a catalog that is not from this Postgres: restart it.`];
  }
  return [];
}

async function readHead(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number | null }>({
    name: "audit-catalog-head",
    text: "select max(version) as version from catalog_entry",
  });
  return rows[0]?.version ?? 0;
}

/** Version of each mark that a process has, if this Postgres knows it. */
async function readMarks(
  db: Queryable,
  processes: readonly ProcessStatus[],
): Promise<Map<string, number>> {
  const asked = processes
    .map((one) => one["catalog_mark"])
    .filter((mark) => typeof mark === "string");
  const { rows } = await db.query<{ mark: string; version: number }>({
    name: "audit-catalog-marks",
    text: "select mark::text as mark, version from catalog_log where mark::text = any($1::text[])",
    values: [asked],
  });
  return new Map(rows.map(({ mark, version }) => [mark, version]));
}

async function askAll(db: Pool, nats: Nats): Promise<ProcessStatus[]> {
  const alive = (await readHeartbeats(db)).filter(({ ageSeconds }) => ageSeconds < ALIVE_SECONDS);
  return await askProcesses(nats, new Set(alive.map(({ id }) => id)));
}
