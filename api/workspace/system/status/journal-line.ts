import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import { systemClock } from "../../../../schemas/time/clock.ts";
import type { ListedProducer } from "./producers.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  count,
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
/** A refused write or sync is named for this long. */
const FAULT_SECONDS = 3_600;

/**
 * The journals on the disks of the ingress hosts. The room is that of the host whose disk is full first if nothing more is stored: the room of others
 * does not help it.
 */
export function journalLine(snapshot: Snapshot): StatusLine {
  const ingress = answering(snapshot, "ingress");
  const hosts = hostsOf(ingress, snapshot);
  const [tightest] = hosts.toSorted((a, b) => fillSecondsOf(a) - fillSecondsOf(b));
  const producers = snapshot.postgres.is === "known" ? snapshot.postgres.value.producers : [];
  const silent = silentOf(producers, ingress);
  return {
    name: "journal",
    parts: [
      producersPart(snapshot, ingress.length),
      tightest === undefined ? { text: "? of ? GB" } : diskPart(tightest, hosts.length),
      ...hosts.flatMap(faultParts),
      ...silent.map(silentPart),
    ],
    figures: {
      producers: ingress.length > 0 ? ingress.length : null,
      bytes: ingress.length > 0 ? sumOf(ingress, "journal_bytes") : null,
      room_bytes: tightest?.room ?? null,
      hours_of_room: (tightest && hoursOf(tightest)) ?? null,
      hosts: hosts.map((host) => ({
        host: host.name,
        bytes: host.bytes,
        room_bytes: host.room ?? null,
        hours_of_room: hoursOf(host) ?? null,
        write_faults: host.writeFaults,
        sync_faults: host.syncFaults,
        seconds_since_fault: host.faultSeconds ?? null,
      })),
      silent: silent.map(({ id, host, lastWordAt }) => ({ id, host, last_word_at: lastWordAt })),
    },
  };
}

/** The journals of one host. Its workers share its disk. */
type JournalHost = {
  readonly name: string;
  readonly bytes: number;
  /** Undefined when the file system does not answer. */
  readonly room: number | undefined;
  readonly bytesPerSecond: number;
  readonly writeFaults: number;
  readonly syncFaults: number;
  /** Since the last one; undefined if there was none. */
  readonly faultSeconds: number | undefined;
};

function hostsOf(ingress: readonly ProcessStatus[], snapshot: Snapshot): JournalHost[] {
  const names = [...new Set(ingress.map(({ host }) => host))];
  return names.map((name) => {
    const workers = ingress.filter(({ host }) => host === name);
    const rooms = workers.flatMap(({ journal_room_bytes: room }) =>
      typeof room === "number" ? [room] : [],
    );
    const faults = workers.flatMap(({ journal_fault_seconds: seconds }) =>
      typeof seconds === "number" ? [seconds] : [],
    );
    return {
      name,
      bytes: sumOf(workers, "journal_bytes"),
      room: rooms.length === 0 ? undefined : Math.min(...rooms),
      bytesPerSecond: (rateOf(workers, snapshot, "records_taken") ?? 0) * RECORD_BYTES,
      writeFaults: sumOf(workers, "journal_write_faults"),
      syncFaults: sumOf(workers, "journal_sync_faults"),
      faultSeconds: faults.length === 0 ? undefined : Math.min(...faults),
    };
  });
}

function fillSecondsOf({ room = 0, bytesPerSecond }: JournalHost): number {
  if (room === 0) return 0;
  // Without traffic the smallest disk counts.
  return bytesPerSecond > 0 ? room / bytesPerSecond : room;
}

function hoursOf({ room, bytesPerSecond }: JournalHost): number | undefined {
  return room === undefined || bytesPerSecond === 0 ? undefined : room / bytesPerSecond / 3_600;
}

function diskPart(host: JournalHost, hosts: number): Part {
  const { name, bytes, room } = host;
  const on = hosts > 1 ? ` on ${name}` : "";
  if (room === undefined) return { text: `${size(bytes)} of ? GB${on}` };
  const hours = hoursOf(host);
  const left = hours === undefined ? "" : ` (${duration(hours * 3_600)} at this rate)`;
  const text = `${size(bytes)} of ${size(bytes + room)}${on}${left}`;
  return hours !== undefined && hours < ROOM_HOURS_MIN ? { text, fault: "degraded" } : { text };
}

/** What a disk does wrong, with or without traffic. Clicks then go to NATS directly. */
function faultParts({ name, room, writeFaults, syncFaults, faultSeconds }: JournalHost): Part[] {
  const parts: string[] = [];
  if (room === undefined) parts.push(`disk of ${name} does not answer`);
  if (room === 0) parts.push(`disk of ${name} full`);
  if (faultSeconds !== undefined && faultSeconds < FAULT_SECONDS) {
    if (writeFaults > 0) parts.push(`${count(writeFaults)} writes refused on ${name}`);
    if (syncFaults > 0) parts.push(`${plural(syncFaults, "sync")} failed on ${name}`);
  }
  return parts.map((text) => ({ text, fault: "degraded" }));
}

function producersPart({ processes }: Snapshot, number: number): Part {
  if (processes.is === "unknown") return { text: "? producers", fault: "unknown" };
  const text = plural(number, "producer");
  return number > 0 ? { text } : { text, fault: "degraded" };
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
