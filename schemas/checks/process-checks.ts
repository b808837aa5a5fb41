import { checksOf, type Question } from "./check.ts";
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

export const PROCESS_CHECKS = checksOf(PROCESSES, ["status", "doctor"], {
  processes: { judge: judgeReady, remedy: "look at its log" },
  journal: {
    judge: ({ answers }) => judgeJournals(journalHosts(answers)),
    remedy: "see TrackerJournalDiskFails",
  },
  stores: { judge: judgeTogether, remedy: "see `tracker help restored`" },
});
