import type { KnownProcess } from "../../../../schemas/installation/heartbeat.ts";
import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import { auditLine } from "./audit-line.ts";
import { clicksLine } from "./clicks-line.ts";
import { journalLine } from "./journal-line.ts";
import { lanesLine } from "./lanes-line.ts";
import type { Snapshot } from "./snapshot.ts";
import { type LineState, missing, type StatusLine, stateOf, worst } from "./status-line.ts";
import { storesLine } from "./stores-line.ts";

/** The state of an installation at one moment. */
export type StatusReport = {
  readonly atMs: number;
  readonly lines: readonly StatusLine[];
  readonly state: LineState;
  readonly processes: readonly ProcessFigures[];
};

type ProcessFigures = {
  readonly role: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  readonly commit: string;
  /** False for a process that has a row in Postgres and does not answer. */
  readonly answers: boolean;
  /** Seconds since its last heartbeat; null if it has none. */
  readonly heartbeat_age_seconds: number | null;
};

const WIDTH = 100;
const NAME_WIDTH = 9;
const GAP = " · ";
const MORE = "…";
const MARKS: Readonly<Record<LineState, string>> = {
  well: "",
  degraded: "  ← degraded",
  unknown: "  ← cannot tell",
  lost: "  ← may be lost",
};
const EXIT_CODES: Readonly<Record<LineState, number>> = {
  well: 0,
  degraded: 1,
  lost: 2,
  unknown: 3,
};

export function reportOf(snapshot: Snapshot): StatusReport {
  const lines = [clicksLine, journalLine, lanesLine, storesLine, auditLine].map((line) =>
    line(snapshot),
  );
  return {
    atMs: snapshot.atMs,
    lines,
    state: worst(lines.map(stateOf)),
    processes: processFigures(snapshot),
  };
}

/** 0 well, 1 degraded and nothing lost, 2 something is or may be lost, 3 nobody can tell. */
export function exitCodeOf({ state }: Pick<StatusReport, "state">): number {
  return EXIT_CODES[state];
}

/** Five lines of at most 100 columns. */
export function written({ lines }: StatusReport): string {
  return lines.map(lineText).join("\n");
}

/** The shape is documented in deploy/pages/observe.md. */
export function asJson(report: StatusReport): object {
  const { atMs, lines, state, processes } = report;
  return {
    at: new Date(atMs).toISOString(),
    state,
    exit_code: exitCodeOf(report),
    ...Object.fromEntries(
      lines.map((line) => [
        line.name,
        {
          state: stateOf(line),
          ...line.figures,
          faults_named: line.parts.flatMap(({ text, fault }) =>
            fault === undefined ? [] : [text],
          ),
        },
      ]),
    ),
    processes,
  };
}

/** Leaves out parts from the end, parts without a fault first. */
function lineText(line: StatusLine): string {
  const mark = MARKS[stateOf(line)];
  const room = WIDTH - NAME_WIDTH - mark.length;
  const parts = [...line.parts];
  let isCut = false;
  const text = (): string =>
    [...parts.map((part) => part.text), ...(isCut ? [MORE] : [])].join(GAP);
  while (text().length > room && parts.length > 1) {
    const sound = parts.findLastIndex(({ fault }) => fault === undefined);
    parts.splice(sound === -1 ? parts.length - 1 : sound, 1);
    isCut = true;
  }
  const whole = text();
  const fitted = whole.length > room ? `${whole.slice(0, room - MORE.length)}${MORE}` : whole;
  return `${line.name.padEnd(NAME_WIDTH)}${fitted}${mark}`;
}

function processFigures(snapshot: Snapshot): ProcessFigures[] {
  const { processes, postgres } = snapshot;
  const beats = new Map(
    postgres.is === "known" ? postgres.value.heartbeats.map((one) => [one.id, one]) : [],
  );
  const answers = processes.is === "known" ? processes.value : [];
  const silent = processes.is === "known" ? missing(snapshot) : [...beats.values()];
  return [
    ...answers.map((one) => figuresOf(one, true, beats.get(one.process_id)?.ageSeconds ?? null)),
    ...silent.map((one: KnownProcess) => figuresOf(one, false, one.ageSeconds)),
  ];
}

function figuresOf(
  { role, name, host, version, commit }: ProcessStatus | KnownProcess,
  answers: boolean,
  ageSeconds: number | null,
): ProcessFigures {
  return { role, name, host, version, commit, answers, heartbeat_age_seconds: ageSeconds };
}
