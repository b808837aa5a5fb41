import type { ProcessStatus } from "../../../schemas/installation/process-status.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import type { ListedProducer } from "../producers.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  duration,
  numberIn,
  type Part,
  plural,
  rateOf,
  type StatusLine,
  size,
  sumOf,
} from "./status-line.ts";

/** A record in the journal, with its frame. */
const RECORD_BYTES = 1_000;
/** A producer updates its row every 2 s. */
const WORD_SECONDS_MAX = 6;
const ROOM_HOURS_MIN = 2;

/** The journals on the disks of the ingress hosts. The hours are those until they are full if nothing more is stored. */
export function journalLine(snapshot: Snapshot): StatusLine {
  const ingress = answering(snapshot, "ingress");
  const bytes = sumOf(ingress, "journal_bytes");
  const room = roomOf(ingress);
  const rate = rateOf(ingress, snapshot, "records_taken") ?? 0;
  const hours = rate > 0 ? room / (rate * RECORD_BYTES) / 3_600 : undefined;
  const producers = snapshot.postgres.is === "known" ? snapshot.postgres.value.producers : [];
  const silent = silentOf(producers, ingress);
  const isKnown = ingress.length > 0;
  const room_ = hours === undefined ? "" : ` (${duration(hours * 3_600)} at this rate)`;
  const disk: Part = {
    text: isKnown ? `${size(bytes)} of ${size(bytes + room)}${room_}` : "? of ? GB",
    ...(hours !== undefined && hours < ROOM_HOURS_MIN ? { fault: "degraded" } : {}),
  };
  return {
    name: "journal",
    parts: [producersPart(snapshot, ingress.length), disk, ...silent.map(silentPart)],
    figures: {
      producers: isKnown ? ingress.length : null,
      bytes: isKnown ? bytes : null,
      room_bytes: isKnown ? room : null,
      hours_of_room: hours ?? null,
      silent: silent.map(({ id, host, lastWordAt }) => ({ id, host, last_word_at: lastWordAt })),
    },
  };
}

function producersPart({ processes }: Snapshot, number: number): Part {
  if (processes.is === "unknown") return { text: "? producers", fault: "unknown" };
  const text = plural(number, "producer");
  return number > 0 ? { text } : { text, fault: "degraded" };
}

/** Workers of a host share its disk. */
function roomOf(ingress: readonly ProcessStatus[]): number {
  const byHost = new Map<string, number>();
  for (const one of ingress) {
    byHost.set(one.host, Math.max(byHost.get(one.host) ?? 0, numberIn(one, "journal_room_bytes")));
  }
  return [...byHost.values()].reduce((sum, room) => sum + room, 0);
}

/** Producers whose journals may hold clicks that nobody ships now. */
function silentOf(
  producers: readonly ListedProducer[],
  ingress: readonly ProcessStatus[],
): ListedProducer[] {
  const live = new Set(ingress.map((one) => numberIn(one, "producer")));
  return producers.filter(
    (one) =>
      !live.has(one.id) &&
      (one.state === "silent" || (one.state === "running" && wordSeconds(one) > WORD_SECONDS_MAX)),
  );
}

function silentPart(producer: ListedProducer): Part {
  const { id, host } = producer;
  const text = `silent: ${id} on ${host} for ${duration(wordSeconds(producer))}`;
  return { text, fault: "degraded" };
}

function wordSeconds({ lastWordAt }: ListedProducer): number {
  if (lastWordAt === null) return 0;
  return Math.max(0, (systemClock.nowMs() - Date.parse(lastWordAt)) / 1_000);
}
