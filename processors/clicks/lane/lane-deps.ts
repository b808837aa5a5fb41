import type { RoleDeps } from "../../role-deps.ts";
import type { ClickMetrics } from "../metrics.ts";

/** Dependencies of a lane. */
export type LaneDeps = Pick<
  RoleDeps,
  "pool" | "nats" | "clickhouse" | "catalog" | "log" | "clock"
> & {
  readonly metrics: ClickMetrics;
  /** How long a producer may be silent before it is given up (PRODUCER_PATIENCE_HOURS). */
  readonly producerPatienceMs: number;
  /** The most visits that the lane keeps in memory (UNIQUE_VISITS_MAX). */
  readonly uniquesMax?: number | undefined;
};
