import { z } from "zod";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { pause } from "../../../schemas/host/pause.ts";

const POLL_MS = 100;
/** A server waits up to 30 s for the rest of an insert if its client froze while sending it. */
const SETTLE_DEADLINE_MS = 45_000;
const OLDER = `startsWith(query_id, {prefix: String})
  and toUInt64OrZero(splitByChar(':', query_id)[-2]) < {epoch: UInt64}`;

/** One writer's ownership of a lane. The ids of its inserts contain these fields. */
export type LaneEpoch = {
  /** Distinguishes installations that share the server. */
  readonly database: string;
  readonly lane: number;
  readonly epoch: number;
};

/** The newest epoch of the lane that this server knows, and the name of its database. */
export async function selectFence(
  clickhouse: Clickhouse,
  lane: number,
  signal: AbortSignal,
): Promise<{ readonly database: string; readonly epoch: number }> {
  const answer = await clickhouse.query({
    query: `select currentDatabase() as database, max(epoch) as epoch from lane_fence
      where lane = {lane: UInt8}`,
    query_params: { lane },
    format: "JSONEachRow",
    abort_signal: signal,
  });
  const [row] = z
    .array(z.object({ database: z.string(), epoch: z.int() }))
    .parse(await answer.json());
  if (row === undefined) throw new Error("ClickHouse returned no row for an aggregate query");
  return row;
}

export function insertQueryId({ database, lane, epoch }: LaneEpoch, number: number): string {
  return `lane-insert:${database}:${lane}:${epoch}:${number}`;
}

/**
 * Makes ClickHouse refuse inserts of older epochs of this lane that begin from now on, and end those that run. This only makes late inserts
 * end early and visibly: an insert that is frozen in the server, or that another server receives, may still be committed. The intents keep
 * such an insert from storing a row twice.
 */
export async function raiseFence(
  clickhouse: Clickhouse,
  at: LaneEpoch,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<void> {
  await clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: at.lane, epoch: at.epoch }],
    format: "JSONEachRow",
    abort_signal: signal,
  });
  try {
    await clickhouse.command({
      query: `kill query where ${OLDER} async`,
      query_params: olderThan(at),
      abort_signal: signal,
    });
  } catch (error) {
    // They end by their own time limit.
    log.warn({ err: error }, "clicks.older-inserts-not-ended");
  }
}

/**
 * Waits until no insert of an older epoch of this lane runs on this server. Needed where Postgres was restored, since it then lacks the intent of
 * the last insert. @throws when they do not end within 45 s, and what the driver throws.
 */
export async function awaitOlderInserts(
  clickhouse: Clickhouse,
  at: LaneEpoch,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_DEADLINE_MS;
  for (;;) {
    const answer = await clickhouse.query({
      query: `select count() as running from system.processes where ${OLDER}`,
      query_params: olderThan(at),
      format: "JSONEachRow",
      abort_signal: signal,
    });
    const [row] = await answer.json<{ running: number }>();
    if (row?.running === 0) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`an older insert of lane ${at.lane} does not end`);
    }
    await pause(POLL_MS, signal);
    signal.throwIfAborted();
  }
}

function olderThan({ database, lane, epoch }: LaneEpoch): Record<string, unknown> {
  return { prefix: `lane-insert:${database}:${lane}:`, epoch };
}
