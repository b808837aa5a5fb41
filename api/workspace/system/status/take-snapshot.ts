import type { ClickhouseReader } from "../../../../schemas/clickhouse/connect.ts";
import { pause } from "../../../../schemas/host/pause.ts";
import { within } from "../../../../schemas/host/within.ts";
import type { KnownProcess } from "../../../../schemas/installation/heartbeat.ts";
import {
  askProcesses,
  type ProcessStatus,
} from "../../../../schemas/installation/process-status.ts";
import type { Nats } from "../../../../schemas/nats/connect.ts";
import { readStreams } from "../../../../schemas/nats/streams.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../../schemas/time/clock.ts";
import { askClickhouse } from "./ask-clickhouse.ts";
import { aliveOf, askOperationsPorts } from "./ask-operations-ports.ts";
import { askPostgres } from "./ask-postgres.ts";
import type { Answer, Snapshot } from "./snapshot.ts";

/** The servers that know the state of an installation. */
export type AskedStores = {
  readonly db: Queryable;
  readonly clickhouse: ClickhouseReader;
  /** Rejects while NATS is away. */
  readonly nats: () => Promise<Nats>;
};

/** No server delays the report longer. */
export const PATIENCE_MS = 3_000;
export const STATEMENT_MS = 2_500;
/** Between two samples of the counters of a process. */
const SAMPLE_MS = 1_000;

/**
 * Asks every server and every process, so the answer does not depend on who asks. Takes at most about 8 s, when every server hangs. Without
 * an earlier sample it takes two, a second apart, for the rates.
 */
export async function takeSnapshot(
  { db, clickhouse, nats }: AskedStores,
  known: readonly ProcessStatus[] | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  const postgres = await answered(askPostgres(db));
  const alive = postgres.is === "known" ? aliveOf(postgres.value.heartbeats) : [];
  const ask = asker(nats, alive);
  let earlier = known;
  if (earlier === undefined) {
    const first = await ask();
    earlier = first.is === "known" ? first.value : [];
    if (first.is === "known") await pause(SAMPLE_MS, signal);
  }
  const [processes, streams, ofClickhouse] = await Promise.all([
    ask(),
    answered(nats().then(readStreams)),
    answered(askClickhouse(clickhouse, STATEMENT_MS)),
  ]);
  const atMs = systemClock.nowMs();
  return { atMs, processes, earlier, postgres, streams, clickhouse: ofClickhouse };
}

/**
 * Asks each process over NATS; while NATS is away, on the operations ports that Postgres knows. The question waits a second for an alive
 * process that does not answer.
 */
function asker(
  nats: AskedStores["nats"],
  alive: readonly KnownProcess[],
): () => Promise<Answer<readonly ProcessStatus[]>> {
  const expected = new Set(alive.map(({ id }) => id));
  let whileAway: Answer<readonly ProcessStatus[]> | undefined;
  const overNats = async (): Promise<ProcessStatus[]> => await askProcesses(await nats(), expected);
  return async () => {
    // The second sample does not wait for NATS again.
    if (whileAway === undefined) {
      const answer = await answered(overNats());
      if (answer.is === "known") return answer;
      whileAway = answer;
    }
    const value = await askOperationsPorts(alive);
    return value.length === 0 ? whileAway : { is: "known", value };
  };
}

async function answered<T>(asked: Promise<T>): Promise<Answer<T>> {
  try {
    const value = await within(PATIENCE_MS, asked);
    return value === "late"
      ? { is: "unknown", why: `no answer in ${PATIENCE_MS / 1_000} s` }
      : { is: "known", value };
  } catch (error) {
    return {
      is: "unknown",
      why: error instanceof Error ? error.message || error.name : String(error),
    };
  }
}
