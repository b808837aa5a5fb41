import { within } from "../../../schemas/host/within.ts";
import { type KnownProcess, readHeartbeats } from "../../../schemas/installation/heartbeat.ts";
import type { ProcessStatus } from "../../../schemas/installation/process-status.ts";
import { openPool, type PostgresServer } from "../../../schemas/postgres/connect.ts";
import { aliveOf, askOperationsPorts } from "../../workspace/system/status/ask-operations-ports.ts";
import type { ReportLine } from "./report-line.ts";

const NAME = "tracker doctor";
const PATIENCE_MS = 3_000;
const CLOSE_MS = 500;
const FAULT_SECONDS = 3_600;

/**
 * What the processes say on their operations ports about their journals, their stores and themselves. Asked there, so that the answer
 * needs no NATS. Processes of other hosts answer only if their OPS_BIND lets them.
 */
export async function processLines(postgres: PostgresServer): Promise<ReportLine[]> {
  const alive = await aliveProcesses(postgres);
  if (alive === undefined) {
    const text = "which processes run is unknown, because Postgres does not say it in time.";
    return [{ state: "warn", subject: "processes", text }];
  }
  const answers = await askOperationsPorts(alive);
  const answered = new Set(answers.map(({ process_id }) => process_id));
  const silent = alive.filter(({ id }) => !answered.has(id));
  return [summaryLine(alive.length, silent), ...answers.flatMap(faultLines)];
}

async function aliveProcesses(
  server: PostgresServer,
): Promise<readonly KnownProcess[] | undefined> {
  const db = openPool({ ...server, applicationName: NAME, connectionsMax: 1 });
  try {
    const known = await within(PATIENCE_MS, readHeartbeats(db));
    return known === "late" ? undefined : aliveOf(known);
  } catch {
    // The checks of Postgres say why.
    return undefined;
  } finally {
    await within(CLOSE_MS, db.end());
  }
}

function summaryLine(alive: number, silent: readonly KnownProcess[]): ReportLine {
  const subject = "processes";
  if (silent.length === 0) return { state: "ok", subject, text: `${alive} run and answer` };
  const names = silent.map(({ name, host }) => `${name} on ${host}`).join(", ");
  const text = `${silent.length} of ${alive} do not answer on their operations port from here: ${names}. On another host that is so unless OPS_BIND allows it.`;
  return { state: "warn", subject, text };
}

function faultLines(one: ProcessStatus): ReportLine[] {
  const where = `${one.name} on ${one.host}`;
  const lines: ReportLine[] = [];
  const add = (subject: string, text: string): void =>
    void lines.push({ state: "refuse", subject, text });
  if (one.role === "ingress")
    for (const text of journalFaults(one)) add("journal", `${where}: ${text}`);
  if (one["stores_belong_together"] === false)
    add(
      "stores",
      `${where}: Postgres, NATS and ClickHouse are not of one installation: see \`tracker help restored\`.`,
    );
  if (one.stage === "running" && !one.ready)
    add("processes", `${where} runs and is not ready: look at its log.`);
  return lines;
}

function journalFaults(one: ProcessStatus): string[] {
  const {
    journal_room_bytes: room,
    journal_write_faults: writes,
    journal_sync_faults: syncs,
    journal_fault_seconds: seconds,
  } = one;
  const faults: string[] = [];
  // A process of a release that says nothing about its room is not judged.
  if (room === null) faults.push("its disk does not answer: see TrackerJournalDiskFails.");
  if (room === 0)
    faults.push(
      "its disk is full, so clicks go to NATS only: make room, never by deleting files of the journal.",
    );
  if (typeof seconds !== "number" || seconds > FAULT_SECONDS) return faults;
  const counts = `${String(writes)} writes and ${String(syncs)} syncs`;
  faults.push(
    `${counts} were refused since it started, the last ${Math.round(seconds)} s ago: see TrackerJournalDiskFails.`,
  );
  return faults;
}
