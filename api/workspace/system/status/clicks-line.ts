import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  count,
  duration,
  missing,
  missingParts,
  numberIn,
  type Part,
  rateOf,
  type StatusLine,
  sumOf,
  unreadyParts,
} from "./status-line.ts";

/** Longer than a writer waits to fill an insert, and than a lane takes to change its owner. */
const UNSTORED_SECONDS_MAX = 60;

/** What visitors get, and whether it is stored. Rates are of the time between two samples; counts are since the start of each process. */
export function clicksLine(snapshot: Snapshot): StatusLine {
  const { processes, postgres } = snapshot;
  const ingress = answering(snapshot, "ingress");
  const writers = answering(snapshot, "processors").filter((one) => "rows_stored" in one);
  const answeredRate = rateOf(ingress, snapshot, "records_taken");
  const storedRate = rateOf(writers, snapshot, "rows_stored");
  const hasIngress = ingress.length > 0;
  const oldest = hasIngress
    ? Math.max(...ingress.map((one) => numberIn(one, "oldest_unstored_seconds")))
    : null;
  const unrecorded = hasIngress ? sumOf(ingress, "records_unrecorded") : null;
  const gone = sumOf(ingress, "records_lost");
  const noted = postgres.is === "known" ? postgres.value.lost : null;
  const lost = noted === null ? null : Math.max(noted, gone);
  const isUnknown = processes.is === "unknown";
  return {
    name: "clicks",
    parts: [
      ratePart(answeredRate, "answered", hasIngress, isUnknown),
      ratePart(storedRate, "stored", writers.length > 0, isUnknown),
      oldestPart(oldest),
      lossPart("unrecorded", unrecorded, unrecorded ?? 0),
      lossPart("lost", lost, lost ?? gone),
      ...unreadyParts(ingress),
      ...missingParts(missing(snapshot, "ingress")),
    ],
    figures: {
      answered_per_second: answeredRate ?? null,
      stored_per_second: storedRate ?? null,
      oldest_unstored_seconds: oldest,
      unstored: hasIngress ? sumOf(ingress, "unstored_records") : null,
      unrecorded,
      lost_24h: lost,
    },
  };
}

function ratePart(
  rate: number | undefined,
  what: string,
  isThere: boolean,
  isUnknown: boolean,
): Part {
  if (isThere) return { text: `${rate === undefined ? "?" : count(rate)}/s ${what}` };
  return { text: `?/s ${what}`, fault: isUnknown ? "unknown" : "degraded" };
}

function oldestPart(seconds: number | null): Part {
  if (seconds === null) return { text: "oldest unstored ?" };
  const text = `oldest unstored ${duration(seconds)}`;
  return seconds > UNSTORED_SECONDS_MAX ? { text, fault: "degraded" } : { text };
}

/** `shown` is null while a process that counts does not answer; `known` is what the others have counted. */
function lossPart(what: string, shown: number | null, known: number): Part {
  if (known > 0) return { text: `${what} ${count(known)}`, fault: "lost" };
  return { text: `${what} ${shown === null ? "?" : "0"}` };
}
