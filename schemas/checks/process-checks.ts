import type { Check, Question } from "./check.ts";
import {
  journalHosts,
  judgeJournals,
  judgeReady,
  judgeTogether,
  type ProcessFacts,
} from "./judge-processes.ts";
import { postgresRefusal } from "./postgres-checks.ts";

/** Postgres knows which run; each is asked for its `/status`. */
const PROCESSES: Question<ProcessFacts> = {
  server: "Postgres, which knows the processes,",
  ask: ({ processes }) => processes?.(),
  refusalOf: postgresRefusal,
};

export const PROCESS_CHECKS: readonly Check<ProcessFacts>[] = [
  {
    id: "processes",
    ask: PROCESSES,
    judge: judgeReady,
    finds: "a process that does not answer, or cannot work as its `/readyz` says",
    remedy: "look at its log",
    at: ["status", "doctor"],
  },
  {
    id: "journal",
    ask: PROCESSES,
    judge: ({ answers }) => judgeJournals(journalHosts(answers)),
    finds:
      "a journal's disk that is full or does not answer, or refused a write or sync in the last hour",
    remedy: "see TrackerJournalDiskFails",
    at: ["status", "doctor"],
  },
  {
    id: "stores",
    ask: PROCESSES,
    judge: judgeTogether,
    finds: "a process to which Postgres, NATS and ClickHouse are not of one installation",
    remedy: "see `tracker help restored`",
    at: ["status", "doctor"],
  },
];
