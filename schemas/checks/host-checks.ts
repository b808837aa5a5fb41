import { type Check, checksOf, type Question } from "./check.ts";
import {
  type HostFacts,
  judgeDisk,
  judgeOpenFiles,
  judgeSecrets,
  judgeTls,
  judgeTuning,
  type Tuning,
} from "./judge-host.ts";
import { type JournalDisk, judgeJournal } from "./judge-journal.ts";

/** A file system that does not answer is away, whatever its code. */
const noRefusal = (): undefined => undefined;

/** A disk fault must not keep an ingress from answering clicks (P6), so it leaves the check unknown. */
const JOURNAL: Question<JournalDisk> = {
  server: "The disk of the journal",
  ask: ({ journal }) => journal?.(),
  refusalOf: noRefusal,
};

const HOST: Question<HostFacts> = {
  server: "This host",
  ask: ({ host }) => host?.(),
  refusalOf: noRefusal,
};

const BURSTS = "bursts of connections are dropped";
const TUNINGS: readonly Tuning[] = [
  {
    name: "net.ipv4.tcp_migrate_req",
    least: 1,
    why: "a closing worker resets waiting connections",
  },
  { name: "net.core.somaxconn", least: 65_535, why: BURSTS },
  { name: "net.ipv4.tcp_max_syn_backlog", least: 65_535, why: BURSTS },
  { name: "net.core.netdev_max_backlog", least: 250_000, why: "bursts of packets are dropped" },
  { name: "vm.swappiness", most: 1, why: "a swapped process answers late" },
];

export const HOST_CHECKS: readonly Check[] = [
  ...checksOf(JOURNAL, ["start", "doctor"], {
    J1: { judge: judgeJournal, remedy: "put DATA_DIR on a local disk with ext4 or XFS" },
  }),
  ...checksOf(HOST, ["doctor"], {
    disk: { judge: judgeDisk, remedy: "make room, or journals go to NATS only" },
    "open files": {
      judge: judgeOpenFiles,
      remedy: "set LimitNOFILE=1048576 in the unit, or raise it with ulimit -n",
    },
    ...Object.fromEntries(TUNINGS.map((tuning) => [tuning.name, tuningCheck(tuning)])),
    secrets: { judge: judgeSecrets, remedy: "run `chmod 600` on it" },
    TLS: { judge: judgeTls, remedy: "configure TLS there and in the URL" },
  }),
];

function tuningCheck(tuning: Tuning): Pick<Check<HostFacts>, "judge" | "remedy"> {
  const wanted = "least" in tuning ? tuning.least : tuning.most;
  return {
    judge: (facts) => judgeTuning(tuning, facts),
    remedy: `run \`sysctl -w ${tuning.name}=${wanted}\` and note it in /etc/sysctl.d`,
  };
}
