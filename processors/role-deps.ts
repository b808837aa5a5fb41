import type { Catalog } from "../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../schemas/catalog-feed/follow.ts";
import type { Clickhouse } from "../schemas/clickhouse/connect.ts";
import type { Log } from "../schemas/host/log.ts";
import type { Metrics } from "../schemas/host/metrics.ts";
import type { Nats } from "../schemas/nats/connect.ts";
import type { Pool } from "../schemas/postgres/connect.ts";
import type { Clock } from "../schemas/time/clock.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";

/** What main.ts has for the roles. Each role takes the part that it needs. */
export type RoleDeps = {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly catalogFeed: CatalogFeed;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborted when the process begins to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Undefined without tracing. */
  readonly tracing?: Tracing | undefined;
};
