import type { Metrics } from "../../schemas/host/metrics.ts";

/** Values that are read from the lanes of this process on request. */
export type LaneReadings = {
  readonly lanes: number;
  /** Lanes of the installation. */
  readonly lanesWanted: number;
  readonly waitingRows: number;
  readonly youngClicks: number;
  readonly youngBytes: number;
  readonly uniqueVisits: number;
  readonly uniqueBytes: number;
  /** For each lane, the age in seconds of the oldest visit that it remembers. */
  readonly oldestVisitSeconds: ReadonlyMap<number, number>;
  readonly openHoles: number;
  /** For each lane, the ingress processes that it waits for. */
  readonly silentProducers: ReadonlyMap<number, number>;
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
  return {
    rows: metrics.counter("clicks_rows_total"),
    inserts: metrics.counter("clicks_inserts_total"),
    insertSeconds: metrics.histogram("clicks_insert_seconds"),
    freshness: metrics.histogram("clicks_freshness_seconds"),
    retries: metrics.counter("clicks_retries_total"),
    settled: metrics.counter("clicks_inserts_settled_total"),
    lanesTaken: metrics.counter("clicks_lanes_taken_total"),
    lost: metrics.counter("clicks_lost_total"),
    holes: metrics.counter("clicks_holes_total"),
    missing: metrics.counter("clicks_missing_total"),
    repeated: metrics.counter("clicks_repeated_total"),
    refusedJumps: metrics.counter("clicks_refused_total"),
    foreign: metrics.counter("clicks_foreign_records_total"),
    undecodable: metrics.counter("clicks_dead_messages_total"),
    queries: metrics.counter("clicks_queries_total"),
    tableWentBack: metrics.counter("clicks_went_back_total"),
    clockWentBack: metrics.counter("clicks_clock_went_back_total"),
    postgresWentBack: metrics.counter("clicks_postgres_went_back_total"),
    visitsForgotten: metrics.counter("clicks_uniques_forgotten_total"),
    audits: metrics.counter("clicks_audits_total"),
  };
}

function declareGauges(metrics: Metrics, read: () => LaneReadings): void {
  metrics.gauge("clicks_lanes", () => read().lanes);
  metrics.gauge("clicks_lanes_wanted", () => read().lanesWanted);
  metrics.gauge("clicks_waiting_rows", () => read().waitingRows);
  metrics.gauge("clicks_young", () => read().youngClicks);
  metrics.gauge("clicks_young_bytes", () => read().youngBytes);
  metrics.gauge("clicks_unique_visits", () => read().uniqueVisits);
  metrics.gauge("clicks_unique_bytes", () => read().uniqueBytes);
  metrics.gauges("clicks_oldest_visit_seconds", () =>
    [...read().oldestVisitSeconds].map(([lane, age]) => [{ lane: String(lane) }, age]),
  );
  metrics.gauges("clicks_silent_producers", () =>
    [...read().silentProducers].map(([lane, count]) => [{ lane: String(lane) }, count]),
  );
  metrics.gauge("clicks_open_holes", () => read().openHoles);
  metrics.gauge("clicks_pending_messages", () => read().pendingMessages);
  metrics.gauge("clicks_oldest_waiting_seconds", () => read().oldestWaitingSeconds);
}
