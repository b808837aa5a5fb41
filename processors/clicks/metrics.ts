import type { Counter, Metrics } from "../../schemas/host/metrics.ts";

/** Values that are read from the lanes of this process on request. */
export type LaneReadings = {
  readonly lanes: number;
  readonly waitingRows: number;
  readonly youngClicks: number;
  readonly youngBytes: number;
  readonly uniqueVisits: number;
  readonly uniqueBytes: number;
  /** For each lane, the age in seconds of the oldest visit that it remembers. */
  readonly oldestVisitSeconds: ReadonlyMap<number, number>;
  readonly openHoles: number;
  /** Undefined while unknown. */
  readonly pendingMessages: number | undefined;
  readonly oldestWaitingSeconds: number | undefined;
};

export type ClickMetrics = ReturnType<typeof declareCounters>;

export function clickMetrics(metrics: Metrics, read: () => LaneReadings): ClickMetrics {
  declareGauges(metrics, read);
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  const counter = (name: string, help: string): Counter => metrics.counter(name, help);
  return {
    rows: counter("clicks_rows_total", "Rows inserted, by table."),
    inserts: counter("clicks_inserts_total", "Inserts done, by table."),
    insertSeconds: metrics.histogram("clicks_insert_seconds", "Duration of inserts, by table."),
    retries: counter(
      "clicks_retries_total",
      "Inserts with an unknown outcome, which had to be queried.",
    ),
    lanesTaken: counter("clicks_lanes_taken_total", "Lanes taken."),
    lost: counter("clicks_lost_total", "Records that are lost, by reason."),
    holes: counter("clicks_holes_total", "Gaps in a producer's sequence."),
    missing: counter("clicks_missing_total", "Records that were missing when a gap opened."),
    repeated: counter("clicks_repeated_total", "Records that were known already."),
    refusedJumps: counter("clicks_refused_total", "Jumps refused over too many gaps."),
    foreign: counter(
      "clicks_foreign_records_total",
      "Records refused because another process has their producer number and epoch.",
    ),
    undecodable: counter("clicks_dead_messages_total", "Messages that cannot be decoded."),
    queries: counter("clicks_queries_total", "Queries for young clicks, by outcome."),
    tableWentBack: counter("clicks_went_back_total", "Times that the table had lost rows."),
    clockWentBack: counter(
      "clicks_clock_went_back_total",
      "Times that a lane read its visits again because a clock had been ahead.",
    ),
    postgresWentBack: counter(
      "clicks_postgres_went_back_total",
      "Times that Postgres was behind the epoch of a lane that ClickHouse knows.",
    ),
    visitsForgotten: counter(
      "clicks_visits_forgotten_total",
      "Visits forgotten within their window because the memory was full; they may count as unique again.",
    ),
    audits: counter("clicks_audits_total", "Audits of a lane, by outcome."),
  };
}

function declareGauges(metrics: Metrics, read: () => LaneReadings): void {
  metrics.gauge("clicks_lanes", "Lanes of this process.", () => read().lanes);
  metrics.gauge(
    "clicks_waiting_rows",
    "Rows read and not in ClickHouse yet.",
    () => read().waitingRows,
  );
  metrics.gauge("clicks_young", "Young clicks in memory.", () => read().youngClicks);
  metrics.gauge(
    "clicks_young_bytes",
    "Size of the young clicks in memory.",
    () => read().youngBytes,
  );
  metrics.gauge(
    "clicks_unique_visits",
    "Visits remembered for uniqueness.",
    () => read().uniqueVisits,
  );
  metrics.gauge(
    "clicks_unique_bytes",
    "Size of the visits remembered for uniqueness.",
    () => read().uniqueBytes,
  );
  metrics.gauges(
    "clicks_oldest_visit_seconds",
    "Age of the oldest visit that a lane remembers, by lane.",
    () => [...read().oldestVisitSeconds].map(([lane, age]) => [{ lane: String(lane) }, age]),
  );
  metrics.gauge("clicks_open_holes", "Gaps that are open now.", () => read().openHoles);
  metrics.gauge(
    "clicks_pending_messages",
    "Messages in the stream that were not read yet.",
    () => read().pendingMessages,
  );
  metrics.gauge(
    "clicks_oldest_waiting_seconds",
    "Age of the oldest batch that is not in ClickHouse.",
    () => read().oldestWaitingSeconds,
  );
}
