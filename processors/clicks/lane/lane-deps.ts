import type { RoleDeps } from "../../role-deps.ts";
import type { ClickMetrics } from "../metrics.ts";
import type { LaneHomes } from "./home.ts";

/** Dependencies of a lane. */
export type LaneDeps = Pick<
  RoleDeps,
  "pool" | "nats" | "clickhouse" | "catalog" | "log" | "clock"
> & {
  readonly metrics: ClickMetrics;
  readonly homes: LaneHomes;
  /** How long a producer may be silent before it is given up (PRODUCER_PATIENCE_HOURS). */
  readonly producerPatienceMs: number;
  /** The most visits that the lane keeps in memory (UNIQUE_VISITS_MAX). */
  readonly uniquesMax?: number | undefined;
  /** Bytes of clicks that the lane keeps to find them without ClickHouse (YOUNG_CLICKS_BYTES). */
  readonly youngBytesMax?: number | undefined;
};
