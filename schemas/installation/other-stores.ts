import type { Clickhouse } from "../clickhouse/connect.ts";
import type { StreamMarks } from "./stream-marks.ts";

/** The stores that have recorded what Postgres assigned. */
export type OtherStores = {
  readonly clickhouse: Clickhouse;
  /** Undefined if the caller has no connection to JetStream, or JetStream has not answered for too long. */
  readonly streams: StreamMarks | undefined;
};
