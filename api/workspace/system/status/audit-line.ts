import type { ProcessStatus } from "../../../../schemas/installation/process-status.ts";
import type { PostgresStatus } from "./ask-postgres.ts";
import { rangesOf } from "./lanes-line.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  answering,
  count,
  duration,
  lanesIn,
  missing,
  missingParts,
  type Part,
  plural,
  type StatusLine,
  unreadyParts,
} from "./status-line.ts";

/** A writer compares each lane every minute. */
const AUDIT_SECONDS_MAX = 300;
const BACKUP_SECONDS_MAX = 26 * 3_600;
const SHORT_NAMES = { postgres: "pg", clickhouse: "ch" } as const;

/** The last comparisons that the service made by itself, the backups that were noted, and which releases run. */
export function auditLine(snapshot: Snapshot): StatusLine {
  const writers = answering(snapshot, "processors").filter((one) => "lanes_held" in one);
  const equal = lanesOf(writers, "lanes_equal");
  const differing = lanesOf(writers, "lanes_differing");
  const postgres = snapshot.postgres.is === "known" ? snapshot.postgres.value : undefined;
  const oldest = writers.flatMap(({ oldest_audit_seconds: age }) =>
    typeof age === "number" ? [age] : [],
  );
  return {
    name: "audit",
    parts: [
      ...lanesParts(writers, equal, differing, oldest),
      ...(postgres === undefined
        ? [{ text: "facts ?" }, { text: "backups ?" }]
        : [factsPart(postgres), ...backupParts(postgres)]),
      ...processParts(snapshot),
    ],
    figures: {
      lanes_equal: equal,
      lanes_differing: differing,
      oldest_audit_seconds: oldest.length === 0 ? null : Math.max(...oldest),
      facts: postgres?.facts ?? null,
      backup_age_seconds: postgres === undefined ? null : Object.fromEntries(postgres.backupAges),
      releases: releasesOf(snapshot),
    },
  };
}

function lanesOf(writers: readonly ProcessStatus[], fact: string): number[] {
  return writers.flatMap((one) => lanesIn(one, fact)).toSorted((a, b) => a - b);
}

function lanesParts(
  writers: readonly ProcessStatus[],
  equal: readonly number[],
  differing: readonly number[],
  ages: readonly number[],
): Part[] {
  const parts: Part[] = [];
  if (differing.length > 0) {
    const text = `lanes ${rangesOf(differing)} differ: tracker audit`;
    parts.push({ text, fault: "lost" });
  }
  if (writers.length === 0) return [...parts, { text: "lanes ?" }];
  if (ages.length === 0) {
    // The first comparison comes a minute after a start.
    const upSeconds = Math.min(...writers.map(({ uptime_ms }) => uptime_ms / 1_000));
    return upSeconds > AUDIT_SECONDS_MAX
      ? [...parts, { text: "lanes not compared", fault: "degraded" }]
      : [...parts, { text: "lanes not compared yet" }];
  }
  const age = Math.max(...ages);
  const text = `${duration(age)} ago: ${plural(equal.length, "lane")} equal`;
  parts.push(age > AUDIT_SECONDS_MAX ? { text, fault: "degraded" } : { text });
  return parts;
}

function factsPart({ facts: { isFinished, found, secondsAgo } }: PostgresStatus): Part {
  if (secondsAgo === null) return { text: "facts not compared yet" };
  const ago = `${duration(secondsAgo)} ago`;
  if (!isFinished) return { text: `facts being compared, last ${ago}` };
  if (found === 0) return { text: `facts equal ${ago}` };
  return { text: `${count(found)} facts differed ${ago}`, fault: "degraded" };
}

function backupParts({ backupAges }: PostgresStatus): Part[] {
  if (backupAges.size === 0) return [{ text: "no backup noted" }];
  const text = [...backupAges].map(([store, age]) => `${SHORT_NAMES[store]} ${duration(age)}`);
  const isOld = [...backupAges.values()].some((age) => age > BACKUP_SECONDS_MAX);
  const part = { text: `backups ${text.join(", ")}` };
  return [isOld ? { ...part, fault: "degraded" } : part];
}

/** During an upgrade two releases run side by side, which is no fault. */
function processParts(snapshot: Snapshot): Part[] {
  if (snapshot.processes.is === "unknown") return [{ text: "? processes", fault: "unknown" }];
  const releases = Object.entries(releasesOf(snapshot));
  const api = answering(snapshot, "api");
  const parts: Part[] = [
    {
      text:
        releases.length === 0
          ? "0 processes"
          : releases.map(([version, number]) => `${number} of ${version}`).join(", "),
    },
  ];
  if (api.length === 0) parts.push({ text: "no api", fault: "degraded" });
  parts.push(...unreadyParts(api));
  const differing = numberOfIncarnations(snapshot);
  if (differing > 1) parts.push({ text: `${differing} incarnations`, fault: "degraded" });
  return [...parts, ...missingParts(missing(snapshot, "api"))];
}

function numberOfIncarnations({ postgres, processes }: Snapshot): number {
  if (postgres.is === "unknown" || processes.is === "unknown") return 0;
  const ids = new Set(processes.value.map(({ process_id }) => process_id));
  const alive = postgres.value.heartbeats.filter(({ id }) => ids.has(id));
  return new Set(alive.map(({ incarnation }) => incarnation)).size;
}

function releasesOf({ processes }: Snapshot): Record<string, number> {
  const releases: Record<string, number> = {};
  for (const { version } of processes.is === "known" ? processes.value : []) {
    releases[version] = (releases[version] ?? 0) + 1;
  }
  return releases;
}
