import type { NatsServerReport } from "../nats/server-reports.ts";
import type { StreamReport } from "../nats/stream-report.ts";
import { alerts, type Fault, type Judgement, refusals, refuses, warns } from "./finding.ts";

/** How the servers were asked, and what they answered. */
export type NatsServers =
  | { readonly way: keyof typeof UNKNOWN_SYNC }
  | { readonly way: "system account"; readonly reports: readonly NatsServerReport[] }
  | {
      readonly way: "monitors";
      readonly reports: readonly NatsServerReport[];
      /** URLs in NATS_MONITOR_URLS. */
      readonly listed: number;
    };

/** N1 where nobody can say it: there is no way to ask, or the servers refuse the user of NATS_SYS_URL or do not listen to it. */
const UNKNOWN_SYNC = {
  none: "It is unknown whether NATS syncs acknowledged messages to its disk: set NATS_SYS_URL to a user of the system account, or NATS_MONITOR_URLS to the monitoring address of each server.",
  refused:
    "NATS does not accept the user of NATS_SYS_URL as one of its system account, so it is unknown whether it syncs acknowledged messages to its disk: set NATS_SYS_URL to a user of that account with its password.",
} as const;
const HOUR_MS = 3_600_000;
const STREAM_AGE_MS_MIN = 48 * HOUR_MS;
/** A shorter span says nothing about the rate of a day. */
const RATE_SPAN_MS_MIN = 6 * HOUR_MS;
const REPLICAS_MIN = 3;
const GIB = 1024 ** 3;
type Version = readonly [number, number, number];
/** Older servers lost streams when their process crashed. */
const VERSION_MIN: Version = [2, 10, 23];
/** In clusters of older servers a stream stayed without a leader after many faults (test/deep/deploy/nats-cluster.test.ts, see deploy/DECISIONS.md). */
const CLUSTER_VERSION_MIN: Version = [2, 14, 10];

/** N1: every server syncs each message to its disk before it acknowledges it. */
export function judgeNatsSync(servers: NatsServers): Judgement {
  if (!("reports" in servers)) return { faults: [refuses(UNKNOWN_SYNC[servers.way])] };
  const { reports } = servers;
  const faults = reports
    .filter(({ syncsAlways }) => !syncsAlways)
    .map(({ name }) =>
      refuses(
        `NATS server ${name} acknowledges messages that a power cut can still take: set sync_interval to always in the jetstream block of its configuration and restart it.`,
      ),
    );
  const size = Math.max(1, ...reports.map(({ clusterSize }) => clusterSize));
  const listed = servers.way === "monitors" ? servers.listed : size;
  if (listed < size) {
    faults.push(
      refuses(
        `NATS_MONITOR_URLS names ${listed} of the ${size} servers of the NATS cluster: add the monitoring addresses of the others.`,
      ),
    );
  }
  const expected = Math.max(size, listed);
  const answered = new Set(reports.map(({ id }) => id)).size;
  if (answered >= expected) return { faults };
  return { faults, missing: `${answered} of ${expected} NATS servers answer` };
}

/**
 * N2: streams keep what was acknowledged through the loss of a server, and for as long as a refill of ClickHouse may need it. The click writers
 * make a stream again that does not exist.
 */
export function judgeStreams(
  streams: readonly StreamReport[],
  { singleSite }: { readonly singleSite: boolean },
  missing: readonly string[] = [],
): Judgement {
  const replicas = singleSite ? 1 : REPLICAS_MIN;
  return {
    faults: [
      ...missing.map((name) =>
        alerts(`The NATS stream ${name} does not exist: run \`tracker migrate\`.`),
      ),
      ...streams.flatMap((stream) => faultsOfStream(stream, replicas)),
    ],
  };
}

function faultsOfStream(stream: StreamReport, replicasMin: number): Fault[] {
  const { name, replicas, maxAgeMs, maxBytes } = stream;
  const faults = refusals(
    [
      replicas < replicasMin,
      `The NATS stream ${name} has ${replicas} of ${replicasMin} copies, so the loss of one server can lose clicks: set NATS_REPLICAS=${replicasMin} and run \`tracker migrate\`, or set STRICT_SINGLE_SITE=1 for an installation on one host.`,
    ],
    [
      !stream.isOnDisk,
      `The NATS stream ${name} is kept in memory and ends with its server: delete it while no click is under way and run \`tracker migrate\`, which makes it on disk.`,
    ],
    [
      !stream.discardsOld,
      `The NATS stream ${name} refuses new clicks when it is full: run \`tracker migrate\`, which makes it discard the oldest instead.`,
    ],
    [
      maxAgeMs > 0 && maxAgeMs < STREAM_AGE_MS_MIN,
      `The NATS stream ${name} keeps clicks for ${hours(maxAgeMs)} h, less than the ${hours(STREAM_AGE_MS_MIN)} h in which a lost ClickHouse must be refilled: run \`tracker migrate\` with CLICKS_STREAM_HOURS=72.`,
    ],
    [
      stream.persistsAsync,
      `The NATS stream ${name} acknowledges clicks before they are written (persist_mode async): set its persist_mode to default.`,
    ],
  );
  if (!isTooSmall(stream)) return faults;
  const { bytes, spanMs } = stream;
  const needed = Math.ceil((bytes / spanMs) * (maxAgeMs || STREAM_AGE_MS_MIN));
  const sentence = `The NATS stream ${name} has room for ${gib(maxBytes)} GiB, but at the present rate it receives ${gib(needed)} GiB in the time that it must keep clicks: raise CLICKS_STREAM_BYTES and run \`tracker migrate\`.`;
  return [...faults, alerts(sentence)];
}

function isTooSmall({ bytes, spanMs, maxAgeMs, maxBytes }: StreamReport): boolean {
  if (maxBytes < 0 || spanMs < RATE_SPAN_MS_MIN) return false;
  return (bytes / spanMs) * (maxAgeMs || STREAM_AGE_MS_MIN) > maxBytes;
}

/** N3: the version of every server; one may be named twice. `clusterSize` is 1 for a server alone. */
export function judgeNatsVersions(
  servers: readonly Pick<NatsServerReport, "id" | "name" | "version">[],
  clusterSize: number,
): Judgement {
  const byId = new Map(servers.map((server) => [server.id, server]));
  const faults = [...byId.values()].flatMap(({ name, version }) => {
    const server = `NATS server ${name} has version ${version}`;
    if (isOlder(version, VERSION_MIN))
      return refuses(
        `${server}, which can lose a stream when its process crashes: install ${VERSION_MIN.join(".")} or newer.`,
      );
    if (clusterSize > 1 && isOlder(version, CLUSTER_VERSION_MIN))
      return warns(
        `${server}, and in a cluster of such servers the click stream can stay without a leader after a fault: install ${CLUSTER_VERSION_MIN.join(".")} or newer.`,
      );
    return [];
  });
  return { faults };
}

function isOlder(version: string, than: Version): boolean {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (match === null) return true;
  for (const [index, least] of than.entries()) {
    const part = Number(match[index + 1]);
    if (part !== least) return part < least;
  }
  return false;
}

function hours(ms: number): number {
  return Math.round((ms / HOUR_MS) * 10) / 10;
}

function gib(bytes: number): number {
  return Math.round((bytes / GIB) * 10) / 10;
}
