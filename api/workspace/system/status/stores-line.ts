import { judgeTogether } from "../../../../schemas/checks/judge-processes.ts";
import { DELAY_SECONDS_MAX } from "../../../../schemas/clickhouse/cluster-state.ts";
import type { StreamState } from "../../../../schemas/nats/streams.ts";
import type { ClickhouseStatus } from "./ask-clickhouse.ts";
import type { PostgresStatus } from "./ask-postgres.ts";
import type { Answer, Snapshot } from "./snapshot.ts";
import {
  duration,
  faultParts,
  type LineState,
  type Part,
  type StatusLine,
  size,
} from "./status-line.ts";

const FULL_SHARE = 0.8;

/** The servers, each asked by this command itself. Without ClickHouse clicks wait in the stream; the other two know what may be lost. */
export function storesLine(snapshot: Snapshot): StatusLine {
  const { postgres, streams, clickhouse, processes } = snapshot;
  const answers = processes.is === "known" ? processes.value : [];
  return {
    name: "stores",
    parts: [
      ...partsOf("stream", streams, "unknown", (all) => streamParts(all, snapshot.atMs)),
      ...partsOf("postgres", postgres, "unknown", postgresParts),
      ...partsOf("clickhouse", clickhouse, "degraded", clickhouseParts),
      ...faultParts(judgeTogether({ answers })),
    ],
    figures: {
      stream: streams.is === "known" ? streamFigures(streams.value) : null,
      postgres:
        postgres.is === "known"
          ? { is_standby: postgres.value.isStandby, standbys: postgres.value.standbys }
          : null,
      clickhouse: clickhouse.is === "known" ? clickhouse.value : null,
      faults: Object.fromEntries(
        Object.entries({ stream: streams, postgres, clickhouse }).flatMap(([name, answer]) =>
          answer.is === "unknown" ? [[name, answer.why]] : [],
        ),
      ),
    },
  };
}

function partsOf<T>(
  name: string,
  answer: Answer<T>,
  away: Exclude<LineState, "well">,
  parts: (value: T) => Part[],
): Part[] {
  return answer.is === "known" ? parts(answer.value) : [{ text: `${name} ? away`, fault: away }];
}

type Streams = readonly (StreamState | undefined)[];

/** A single stream is no list, as in releases that had no lane groups. */
function streamFigures(streams: Streams): object | null {
  return streams.length === 1 ? (streams[0] ?? null) : streams.map((stream) => stream ?? null);
}

function streamParts(streams: Streams, nowMs: number): Part[] {
  if (streams.length === 1) return partsOfStream("stream", streams[0], nowMs);
  return streams.flatMap((stream, group) => partsOfStream(`stream ${group}`, stream, nowMs));
}

function partsOfStream(title: string, stream: StreamState | undefined, nowMs: number): Part[] {
  if (stream === undefined) return [{ text: `${title} missing`, fault: "degraded" }];
  const { replicas, followers, bytesUsed, bytes, oldestAt } = stream;
  const behind = followers.filter(({ isCurrent }) => !isCurrent);
  const current = replicas > 1 && behind.length === 0 ? " current" : "";
  const room = bytes > 0 ? ` of ${size(bytes)}` : "";
  const age = oldestAt === null ? "" : `, ${duration((nowMs - Date.parse(oldestAt)) / 1_000)}`;
  const text = `${title} R${replicas}${current}, ${size(bytesUsed)}${room}${age}`;
  const isFull = bytes > 0 && bytesUsed > FULL_SHARE * bytes;
  return [
    isFull ? { text, fault: "degraded" } : { text },
    ...behind.map(({ name }): Part => ({ text: `${name} behind or away`, fault: "degraded" })),
  ];
}

function postgresParts({ isStandby, standbys }: PostgresStatus): Part[] {
  if (isStandby) return [{ text: "postgres is a standby, read-only", fault: "degraded" }];
  return [{ text: standbys.length === 0 ? "postgres" : `postgres, sync ${standbys.join(" ")}` }];
}

function clickhouseParts({ version, cluster }: ClickhouseStatus): Part[] {
  if (cluster === undefined) return [{ text: `clickhouse ${version.split(".", 2).join(".")}` }];
  const { nodes, answering, readonlyTables, delaySeconds } = cluster;
  const text = `clickhouse ${answering}/${nodes}, +${duration(delaySeconds)}`;
  const isWell = answering === nodes && readonlyTables === 0 && delaySeconds <= DELAY_SECONDS_MAX;
  return [isWell ? { text } : { text, fault: "degraded" }];
}
