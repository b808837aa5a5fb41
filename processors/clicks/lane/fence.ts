import { z } from "zod";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";

const POLL_MS = 100;
/** A server waits up to 30 s for the rest of an insert if its client froze while sending it. */
const SETTLE_DEADLINE_MS = 45_000;

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
 * Ensures that no insert of an older epoch of this lane succeeds from now on: the server refuses those that begin after
 * the epoch was written, and earlier ones are killed and waited for. The content of the table is reliable afterwards.
 *
 * @throws when they do not end within 45 s, and what the driver throws.
 */
export async function raiseFence(
  clickhouse: Clickhouse,
  at: LaneEpoch,
  signal: AbortSignal,
): Promise<void> {
  await clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: at.lane, epoch: at.epoch }],
    format: "JSONEachRow",
    abort_signal: signal,
  });
  const deadlineMs = performance.now() + SETTLE_DEADLINE_MS;
  const older = `startsWith(query_id, {prefix: String})
    and toUInt64OrZero(splitByChar(':', query_id)[-2]) < {epoch: UInt64}`;
  const query_params = { prefix: `lane-insert:${at.database}:${at.lane}:`, epoch: at.epoch };
  for (;;) {
    const answer = await clickhouse.query({
      query: `select count() as running from system.processes where ${older}`,
      query_params,
      format: "JSONEachRow",
      abort_signal: signal,
    });
    const [row] = await answer.json<{ running: number }>();
    if (row?.running === 0) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`an older insert of lane ${at.lane} does not end`);
    }
    await clickhouse.command({
      query: `kill query where ${older} async`,
      query_params,
      abort_signal: signal,
    });
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}
