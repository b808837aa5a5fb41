import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { catchUpPostgres } from "../../../schemas/installation/restored-postgres.ts";
import { StreamMarks } from "../../../schemas/installation/stream-marks.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { ClickMetrics } from "../metrics.ts";
import type { LaneLease } from "./lane-lease.ts";

type Stores = { readonly pool: Pool; readonly clickhouse: Clickhouse; readonly nats: Nats };

/**
 * Raises the lease above the epoch of the lane in ClickHouse. If Postgres has a lower epoch, it was restored from a backup: this is
 * reported, and the sequences of Postgres are raised too. @throws {LeaseLostError}
 */
export async function meetFence(
  { pool, clickhouse, nats, metrics }: Stores & { readonly metrics: ClickMetrics },
  { lease, log }: { readonly lease: LaneLease; readonly log: Log },
  fenceEpoch: number,
): Promise<void> {
  if (fenceEpoch <= lease.epoch) return;
  metrics.postgresWentBack.add();
  log.error({ epoch: lease.epoch, fenceEpoch }, "clicks.postgres-went-back");
  try {
    const streams = new StreamMarks(() => nats);
    await catchUpPostgres(pool, { clickhouse, streams }, "restore");
  } catch (error) {
    // Writing continues; the comparison of the two stores (schemas/installation) tries again.
    log.error({ err: error }, "clicks.sequences-not-lifted");
  }
  await lease.raiseEpoch(fenceEpoch);
}
