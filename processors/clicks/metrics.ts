import type { Metrics } from "../../schemas/host/metrics.ts";

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

export type ClickMetrics = {
  readonly inserted: (table: string, rows: number, seconds: number) => void;
  readonly retried: (reason: "away" | "fenced" | "fault") => void;
  readonly took: () => void;
  readonly lost: (reason: string, records: number) => void;
  readonly hole: (records: number) => void;
  readonly repeated: (records: number) => void;
  readonly foreign: (records: number) => void;
  readonly refused: () => void;
  readonly undecodable: () => void;
  readonly asked: (found: boolean) => void;
  readonly wentBack: () => void;
  readonly clockWentBack: () => void;
  readonly postgresWentBack: () => void;
  readonly visitsForgotten: (visits: number) => void;
  readonly audited: (ok: boolean) => void;
};

export function clickMetrics(metrics: Metrics, read: () => LaneReadings): ClickMetrics {
  const rows = metrics.counter("clicks_rows_total", "Rows inserted, by table.");
  const inserts = metrics.counter("clicks_inserts_total", "Inserts done, by table.");
  const seconds = metrics.histogram("clicks_insert_seconds", "Duration of inserts, by table.");
  const retries = metrics.counter(
    "clicks_retries_total",
    "Inserts with an unknown outcome, which had to be queried.",
  );
  const taken = metrics.counter("clicks_lanes_taken_total", "Lanes taken.");
  const lost = metrics.counter("clicks_lost_total", "Records that are lost, by reason.");
  const holes = metrics.counter("clicks_holes_total", "Gaps in a producer's sequence.");
  const missing = metrics.counter(
    "clicks_missing_total",
    "Records that were missing when a gap opened.",
  );
  const repeated = metrics.counter("clicks_repeated_total", "Records that were known already.");
  const refused = metrics.counter("clicks_refused_total", "Jumps refused over too many gaps.");
  const foreign = metrics.counter(
    "clicks_foreign_records_total",
    "Records refused because another process has their producer number and epoch.",
  );
  const dead = metrics.counter("clicks_dead_messages_total", "Messages that cannot be decoded.");
  const asked = metrics.counter("clicks_queries_total", "Queries for young clicks, by outcome.");
  const back = metrics.counter("clicks_went_back_total", "Times that the table had lost rows.");
  const clockBack = metrics.counter(
    "clicks_clock_went_back_total",
    "Times that a lane read its visits again because a clock had been ahead.",
  );
  const postgresBack = metrics.counter(
    "clicks_postgres_went_back_total",
    "Times that Postgres was behind the epoch of a lane that ClickHouse knows.",
  );
  const forgotten = metrics.counter(
    "clicks_visits_forgotten_total",
    "Visits forgotten within their window because the memory was full; they may count as unique again.",
  );
  const audits = metrics.counter("clicks_audits_total", "Audits of a lane, by outcome.");
  gauges(metrics, read);
  return {
    inserted: (table, count, took) => {
      rows.add(count, { table });
      inserts.add(1, { table });
      seconds.observe(took, { table });
    },
    retried: (reason) => retries.add(1, { reason }),
    took: () => taken.add(),
    lost: (reason, records) => lost.add(records, { reason }),
    hole: (records) => {
      holes.add();
      missing.add(records);
    },
    repeated: (records) => repeated.add(records),
    foreign: (records) => foreign.add(records),
    refused: () => refused.add(),
    undecodable: () => dead.add(),
    asked: (found) => asked.add(1, { found: String(found) }),
    wentBack: () => back.add(),
    clockWentBack: () => clockBack.add(),
    postgresWentBack: () => postgresBack.add(),
    visitsForgotten: (visits) => forgotten.add(visits),
    audited: (ok) => audits.add(1, { outcome: ok ? "ok" : "differs" }),
  };
}

function gauges(metrics: Metrics, read: () => LaneReadings): void {
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
