import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import type { ClickMetrics } from "../metrics.ts";

/** Dependencies of a lane. */
export type LaneDeps = {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: ClickMetrics;
  /** PRODUCER_PATIENCE_HOURS. */
  readonly producerPatienceMs: number;
  /** UNIQUE_VISITS_MAX. */
  readonly uniquesMax?: number | undefined;
};
