import type { RoleDeps } from "../../role-deps.ts";
import type { ClickMetrics } from "../metrics.ts";

/** Dependencies of a lane. */
export type LaneDeps = Pick<
  RoleDeps,
  "pool" | "nats" | "clickhouse" | "catalog" | "log" | "clock"
> & {
  readonly metrics: ClickMetrics;
  /** PRODUCER_PATIENCE_HOURS. */
  readonly producerPatienceMs: number;
  /** UNIQUE_VISITS_MAX. */
  readonly uniquesMax?: number | undefined;
};
