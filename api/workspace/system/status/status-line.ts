import type { Judgement } from "../../../../schemas/checks/finding.ts";
import { judgeReady } from "../../../../schemas/checks/judge-processes.ts";
import type { KnownProcess } from "../../../../schemas/installation/heartbeat.ts";
import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import type { Snapshot } from "./snapshot.ts";

/** `lost`: something is or may be lost. `unknown`: the servers that know do not answer. The worst one decides the exit code. */
export type LineState = "well" | "degraded" | "lost" | "unknown";

/** Part of a line. Faults stay in a line that is too long; other parts are left out. */
export type Part = {
  readonly text: string;
  /** Undefined for a figure that is as it should be. */
  readonly fault?: Exclude<LineState, "well">;
};

export type StatusLine = {
  readonly name: "clicks" | "journal" | "lanes" | "stores" | "audit";
  readonly parts: readonly Part[];
  /** The figures for `--json`. Null is unknown. */
  readonly figures: Readonly<Record<string, unknown>>;
};

/** A process that does not answer counts as missing for an hour. After that it counts only if no other has its role. */
const MISSING_SECONDS = 3_600;
/** The order from best to worst; losses come before what is unknown. */
const ORDER: readonly LineState[] = ["well", "degraded", "unknown", "lost"];

export function stateOf({ parts }: Pick<StatusLine, "parts">): LineState {
  return worst(parts.map(({ fault }) => fault ?? "well"));
}

export function worst(states: readonly LineState[]): LineState {
  return ORDER[Math.max(0, ...states.map((state) => ORDER.indexOf(state)))] ?? "well";
}

/** Processes of a role that answer. */
export function answering(
  { processes }: Pick<Snapshot, "processes">,
  role: ProcessStatus["role"],
): readonly ProcessStatus[] {
  return processes.is === "known" ? processes.value.filter((one) => one.role === role) : [];
}

/** Processes with a row in Postgres that do not answer. None if either is unknown: then nobody can tell. */
export function missing(
  { processes, postgres }: Pick<Snapshot, "processes" | "postgres">,
  role?: ProcessStatus["role"],
): readonly KnownProcess[] {
  if (processes.is === "unknown" || postgres.is === "unknown") return [];
  const ids = new Set(processes.value.map(({ process_id }) => process_id));
  return postgres.value.heartbeats.filter(
    (one) =>
      !ids.has(one.id) &&
      !isReplaced(one, processes.value) &&
      (role === undefined || one.role === role) &&
      one.ageSeconds < MISSING_SECONDS,
  );
}

/** Whether a process of the same name and host has started since `known` was last seen. */
function isReplaced(known: KnownProcess, processes: readonly ProcessStatus[]): boolean {
  return processes.some(
    ({ role, name, host, uptime_ms }) =>
      role === known.role &&
      name === known.name &&
      host === known.host &&
      uptime_ms < known.ageSeconds * 1_000,
  );
}

/** The faults of a check. What several processes say is said once. */
export function faultParts({ faults }: Judgement): Part[] {
  const texts = new Set(faults.flatMap(({ brief }) => (brief === undefined ? [] : [brief])));
  return [...texts].map((text) => ({ text, fault: "degraded" }));
}

/** Processes of a role that cannot work. */
export function unreadyParts(processes: readonly ProcessStatus[]): Part[] {
  return faultParts(judgeReady({ answers: processes, silent: [] }));
}

/** "ingress-9411 ? 4.0 s": the age of its last sign of life. */
export function missingParts(processes: readonly KnownProcess[]): Part[] {
  return processes.map(({ name, ageSeconds }) => ({
    text: `${name} ? ${duration(ageSeconds)}`,
    fault: "degraded",
  }));
}

/** A fact of a process as a number; 0 if it has none. */
export function numberIn(process: ProcessStatus, fact: string): number {
  const value = process[fact];
  return typeof value === "number" ? value : 0;
}

/** A fact that is a list of lanes. */
export function lanesIn(process: ProcessStatus, fact: string): number[] {
  const value = process[fact];
  return typeof value === "string" && value !== "" ? value.split(",").map(Number) : [];
}

export function sumOf(processes: readonly ProcessStatus[], fact: string): number {
  return processes.reduce((sum, process) => sum + numberIn(process, fact), 0);
}

/** How fast a counter rises over all processes that were there in both samples; undefined without one. */
export function rateOf(
  now: readonly ProcessStatus[],
  { earlier }: Pick<Snapshot, "earlier">,
  fact: string,
): number | undefined {
  const before = new Map(earlier.map((one) => [one.process_id, one]));
  const rates = now.flatMap((process) => {
    const first = before.get(process.process_id);
    const seconds = first === undefined ? 0 : (process.uptime_ms - first.uptime_ms) / 1_000;
    return first === undefined || seconds <= 0
      ? []
      : [(numberIn(process, fact) - numberIn(first, fact)) / seconds];
  });
  return rates.length === 0 ? undefined : rates.reduce((sum, rate) => sum + rate, 0);
}

/** "0.4 s", "38 s", "12 min", "41 h", "9 d". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** "512 B", "3.1 GB": decimal, as disks are sold. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** "48,210". */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** "1 producer", "12 producers". */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
