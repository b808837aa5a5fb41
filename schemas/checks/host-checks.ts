import type { Check, Question } from "./check.ts";
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
export const JOURNAL_CHECK: Check<JournalDisk> = {
  id: "J1",
  ask: {
    server: "The disk of the journal",
    ask: ({ journal }) => journal?.(),
    refusalOf: noRefusal,
  },
  judge: judgeJournal,
  finds: "tmpfs, overlay, NFS, FUSE; a file system without locks; `JOURNAL_SYNC=none`",
  remedy: "put DATA_DIR on a local disk with ext4 or XFS",
  at: ["start", "doctor"],
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

/** For a host that answers clicks. */
export const HOST_CHECKS: readonly Check<HostFacts>[] = [
  {
    id: "disk",
    ask: HOST,
    judge: judgeDisk,
    finds: "less than 15 % of the disk of DATA_DIR free; refused below 5 %",
    remedy: "make room, or journals go to NATS only",
    at: ["doctor"],
  },
  {
    id: "open files",
    ask: HOST,
    judge: judgeOpenFiles,
    finds: "a limit below 65,536",
    remedy: "set LimitNOFILE=1048576 in the unit, or raise it with ulimit -n",
    at: ["doctor"],
  },
  ...TUNINGS.map(
    (tuning): Check<HostFacts> => ({
      id: tuning.name,
      ask: HOST,
      judge: (facts) => judgeTuning(tuning, facts),
      finds: "least" in tuning ? `less than ${tuning.least}` : `more than ${tuning.most}`,
      remedy: `run \`sysctl -w ${tuning.name}=${"least" in tuning ? tuning.least : tuning.most}\` and note it in /etc/sysctl.d`,
      at: ["doctor"],
    }),
  ),
  {
    id: "secrets",
    ask: HOST,
    judge: judgeSecrets,
    finds: "a file with a secret that others than its owner may read",
    remedy: "run `chmod 600` on it",
    at: ["doctor"],
  },
  {
    id: "TLS",
    ask: HOST,
    judge: judgeTls,
    finds: "a server on another host that is reached without TLS",
    remedy: "configure TLS there and in the URL",
    at: ["doctor"],
  },
];
