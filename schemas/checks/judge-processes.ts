import type { KnownProcess } from "../installation/heartbeat.ts";
import type { ProcessStatus } from "../installation/process-status.ts";
import { type Fault, type Judgement, refuses } from "./finding.ts";

/** The processes that were alive just now. */
export type ProcessFacts = {
  readonly answers: readonly ProcessStatus[];
  /** Those that did not answer. */
  readonly silent: readonly Pick<KnownProcess, "name" | "host">[];
};

/** The journals of one host. Its workers share its disk. */
export type JournalHost = {
  readonly name: string;
  /** Undefined while nobody knows it. */
  readonly room: number | undefined;
  /** Whether the file system told each of the workers its room. */
  readonly answers: boolean;
  readonly writeFaults: number;
  readonly syncFaults: number;
  /** Since the last one; undefined if there was none. */
  readonly faultSeconds: number | undefined;
};

/** A refused write or sync is named for this long. */
const FAULT_SECONDS = 3_600;

/** Whether processes can do their work, as `/readyz` says. */
export function judgeReady({ answers, silent }: ProcessFacts): Judgement {
  const faults = answers
    .filter(({ ready }) => !ready)
    .map(({ name, host, stage }): Fault => {
      const isStuck = stage === "running";
      return {
        weight: isStuck ? "refuses" : "warns",
        sentence: isStuck
          ? `${name} on ${host} runs and is not ready`
          : `${name} on ${host} is ${stage}`,
        brief: `${name} ${isStuck ? "not ready" : stage}`,
      };
    });
  const alive = answers.length + silent.length;
  if (silent.length === 0) return { faults, well: `${alive} run and answer` };
  const names = silent.map(({ name, host }) => `${name} on ${host}`).join(", ");
  const sentence = `${silent.length} of ${alive} do not answer on their operations port from here: ${names}. On another host that is so unless OPS_BIND allows it.`;
  return { faults: [{ weight: "warns", sentence }, ...faults] };
}

export function judgeTogether({ answers }: Pick<ProcessFacts, "answers">): Judgement {
  const faults = answers
    .filter((one) => one["stores_belong_together"] === false)
    .map(({ name, host }) =>
      refuses(
        `${name} on ${host}: Postgres, NATS and ClickHouse are not of one installation`,
        "not of one installation",
      ),
    );
  return { faults };
}

/** What disks do wrong, with or without traffic. Clicks then go to NATS directly. */
export function judgeJournals(hosts: readonly JournalHost[]): Judgement {
  return { faults: hosts.flatMap(faultsOfJournals) };
}

function faultsOfJournals(journals: JournalHost): Fault[] {
  const { name, room, answers, writeFaults, syncFaults, faultSeconds } = journals;
  const faults: Fault[] = [];
  const add = (sentence: string, brief: string): void => void faults.push(refuses(sentence, brief));
  const disk = `the disk of the journals on ${name}`;
  if (!answers) add(`${disk} does not answer`, `disk of ${name} does not answer`);
  if (room === 0) {
    const remedy = "make room, never by deleting files of the journal";
    add(`${disk} is full, so clicks go to NATS only: ${remedy}.`, `disk of ${name} full`);
  }
  if (faultSeconds === undefined || faultSeconds >= FAULT_SECONDS) return faults;
  const since = `since the processes started, the last ${Math.round(faultSeconds)} s ago`;
  if (writeFaults > 0) {
    const writes = `${writeFaults.toLocaleString("en-US")} writes`;
    add(`${disk} refused ${writes} ${since}`, `${writes} refused on ${name}`);
  }
  if (syncFaults > 0) {
    const syncs = `${syncFaults.toLocaleString("en-US")} ${syncFaults === 1 ? "sync" : "syncs"}`;
    add(`${disk} failed ${syncs} ${since}`, `${syncs} failed on ${name}`);
  }
  return faults;
}

export function journalHosts(processes: readonly ProcessStatus[]): JournalHost[] {
  const ingress = processes.filter(({ role }) => role === "ingress");
  const names = [...new Set(ingress.map(({ host }) => host))];
  return names.map((name) => {
    const workers = ingress.filter(({ host }) => host === name);
    const numbers = (fact: string): number[] =>
      workers.map((one) => one[fact]).filter((value) => typeof value === "number");
    const sum = (fact: string): number => numbers(fact).reduce((all, one) => all + one, 0);
    return {
      name,
      room: least(numbers("journal_room_bytes")),
      // A process of a release that says nothing about its room is not judged.
      answers: workers.every((one) => one["journal_room_bytes"] !== null),
      writeFaults: sum("journal_write_faults"),
      syncFaults: sum("journal_sync_faults"),
      faultSeconds: least(numbers("journal_fault_seconds")),
    };
  });
}

function least(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}
