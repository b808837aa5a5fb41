import {
  type JournalHost,
  journalHosts,
  judgeJournals,
} from "../../../../schemas/checks/judge-processes.ts";
import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import { systemClock } from "../../../../schemas/time/clock.ts";
import type { ListedProducer } from "./producers.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  duration,
  faultParts,
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

/**
 * The journals on the disks of the ingress hosts. Shows the room of the host whose disk is full first if nothing more is stored: other hosts' room
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
      ...faultParts(judgeJournals(hosts)),
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

type FillingHost = JournalHost & { readonly bytes: number; readonly bytesPerSecond: number };

function hostsOf(ingress: readonly ProcessStatus[], snapshot: Snapshot): FillingHost[] {
  return journalHosts(ingress).map((host) => {
    const workers = ingress.filter((one) => one.host === host.name);
    const bytesPerSecond = (rateOf(workers, snapshot, "records_taken") ?? 0) * RECORD_BYTES;
    return { ...host, bytes: sumOf(workers, "journal_bytes"), bytesPerSecond };
  });
}

function fillSecondsOf({ room = 0, bytesPerSecond }: FillingHost): number {
  if (room === 0) return 0;
  // Without traffic the smallest disk counts.
  return bytesPerSecond > 0 ? room / bytesPerSecond : room;
}

function hoursOf({ room, bytesPerSecond }: FillingHost): number | undefined {
  return room === undefined || bytesPerSecond === 0 ? undefined : room / bytesPerSecond / 3_600;
}

function diskPart(host: FillingHost, hosts: number): Part {
  const { name, bytes, room } = host;
  const on = hosts > 1 ? ` on ${name}` : "";
  if (room === undefined) return { text: `${size(bytes)} of ? GB${on}` };
  const hours = hoursOf(host);
  const left = hours === undefined ? "" : ` (${duration(hours * 3_600)} at this rate)`;
  const text = `${size(bytes)} of ${size(bytes + room)}${on}${left}`;
  return hours !== undefined && hours < ROOM_HOURS_MIN ? { text, fault: "degraded" } : { text };
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
