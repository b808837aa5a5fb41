import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  duration,
  lanesIn,
  missing,
  missingParts,
  numberIn,
  type Part,
  type StatusLine,
  unreadyParts,
} from "./status-line.ts";

const WAITING_SECONDS_MAX = 60;

/** Who writes which lane, and how old the oldest record is that it has read and not written. */
export function lanesLine(snapshot: Snapshot): StatusLine {
  const processors = answering(snapshot, "processors");
  const holders = processors.filter((one) => lanesIn(one, "lanes_held").length > 0);
  const lanes = lanesOf(snapshot, holders);
  const free = lanes.filter(
    (lane) => !holders.some((one) => lanesIn(one, "lanes_held").includes(lane)),
  );
  return {
    name: "lanes",
    parts: [
      ...holders.map(holderPart),
      ...freePart(free, snapshot),
      ...waitingPart(snapshot),
      ...processors.flatMap(trouble),
      ...missingParts(missing(snapshot, "processors")),
    ],
    figures: {
      lanes: lanes.map((lane) => laneFigures(lane, holders, snapshot)),
      open_holes: processors.reduce((sum, one) => sum + numberIn(one, "open_holes"), 0),
    },
  };
}

/** While Postgres is away, lanes that somebody holds. */
function lanesOf({ postgres }: Snapshot, holders: readonly ProcessStatus[]): readonly number[] {
  if (postgres.is === "known") return postgres.value.lanesWanted.all;
  return [...new Set(holders.flatMap((one) => lanesIn(one, "lanes_held")))].toSorted(
    (a, b) => a - b,
  );
}

function holderPart(holder: ProcessStatus): Part {
  const seconds = numberIn(holder, "oldest_waiting_seconds");
  const text = `${rangesOf(lanesIn(holder, "lanes_held"))} ${holder.name} +${duration(seconds)}`;
  return seconds > WAITING_SECONDS_MAX ? { text, fault: "degraded" } : { text };
}

/** A lane that changes its owner has none for a moment. Nothing is lost meanwhile: its clicks wait in the stream. */
function freePart(free: readonly number[], { processes }: Snapshot): Part[] {
  if (free.length === 0) return [];
  const text = `${rangesOf(free)} ?`;
  if (processes.is === "unknown") return [{ text, fault: "unknown" }];
  return [{ text: `${text} nobody`, fault: "degraded" }];
}

/** Lanes that were added. They wait for every ingress, and for the lane of their offers. */
function waitingPart({ postgres }: Snapshot): Part[] {
  if (postgres.is === "unknown") return [];
  const waiting = postgres.value.lanes.filter(({ lane, lanes }) => lane < 100 && lanes === 0);
  if (waiting.length === 0) return [];
  const text = `${rangesOf(waiting.map(({ lane }) => lane))} wait for clicks of before`;
  return [{ text, fault: "degraded" }];
}

function trouble(process: ProcessStatus): Part[] {
  const parts: Part[] = [];
  const { waits_because: why } = process;
  if (typeof why === "string" && why !== "") {
    parts.push({ text: `${process.name} waits: ${why}`, fault: "degraded" });
  }
  const holes = numberIn(process, "open_holes");
  if (holes > 0) parts.push({ text: `${process.name} misses ${holes} ranges`, fault: "degraded" });
  return parts.length > 0 ? parts : unreadyParts([process]);
}

function laneFigures(
  lane: number,
  holders: readonly ProcessStatus[],
  { postgres }: Snapshot,
): object {
  const holder = holders.find((one) => lanesIn(one, "lanes_held").includes(lane));
  const lease =
    postgres.is === "known" ? postgres.value.lanes.find((one) => one.lane === lane) : undefined;
  return {
    lane,
    process: holder?.name ?? null,
    oldest_waiting_seconds:
      holder === undefined ? null : numberIn(holder, "oldest_waiting_seconds"),
    lease_owner: lease?.owner ?? null,
    lease_holds: lease?.isHeld ?? null,
  };
}

/** "0-3,100". */
export function rangesOf(lanes: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const lane of lanes.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === lane - 1) last[1] = lane;
    else ranges.push([lane, lane]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}
