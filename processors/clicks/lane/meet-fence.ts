import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { catchUpPostgres } from "../../../schemas/installation/restored-postgres.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { ClickMetrics } from "../metrics.ts";
import type { LaneLease } from "./lane-lease.ts";

/**
 * Raises the lease above the epoch of the lane in ClickHouse. If Postgres has a lower epoch, it was restored from a backup: this is
 * reported, and the sequences of Postgres are raised too. @throws {LeaseLostError}
 */
export async function meetFence(
  { pool, clickhouse, metrics }: { pool: Pool; clickhouse: Clickhouse; metrics: ClickMetrics },
  { lease, log }: { readonly lease: LaneLease; readonly log: Log },
  fenceEpoch: number,
): Promise<void> {
  if (fenceEpoch <= lease.epoch) return;
  metrics.postgresWentBack.add();
  log.error({ epoch: lease.epoch, fenceEpoch }, "clicks.postgres-went-back");
  try {
    await catchUpPostgres(pool, clickhouse, "restore");
  } catch (error) {
    // Writing continues; the comparison of the two stores (schemas/installation) tries again.
    log.error({ err: error }, "clicks.sequences-not-lifted");
  }
  await lease.raiseEpoch(fenceEpoch);
}
