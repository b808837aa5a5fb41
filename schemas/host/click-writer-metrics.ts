import { counter, gauge, histogram } from "./metric-definition.ts";

const TABLES = { table: ["click", "impression"] } as const;
const GROUP = { group: "number of the lane group, 0 without LANE_GROUPS" } as const;
const LANE = { lane: "number of the lane" } as const;

/** Metrics of the role `clicks`. */
export const CLICK_WRITER_METRICS = {
  clicks_rows_total: counter("Rows inserted, by table.", TABLES),
  clicks_inserts_total: counter("Inserts done, by table.", TABLES),
  clicks_insert_seconds: histogram("Duration of inserts, by table.", "freshness", TABLES),
  clicks_freshness_seconds: histogram(
    "Time from a click to its row in ClickHouse; the rows of a message count as its oldest.",
    "freshness",
    TABLES,
  ),
  clicks_retries_total: counter("Inserts with an unknown outcome, which had to be queried.", {
    reason: ["fenced", "away", "fault"],
  }),
  clicks_inserts_settled_total: counter(
    "Inserts with an unknown outcome that were decided by a second insert, by how many of their rows it had; `none`: a closing row.",
    { rows: ["all", "some", "none"] },
  ),
  clicks_lanes: gauge("Lanes of this process."),
  clicks_lanes_wanted: gauge("Lanes of the installation, of clicks and of impressions."),
  clicks_lanes_taken_total: counter("Lanes taken."),
  clicks_pending_messages: gauge("Messages in the stream that were not read yet."),
  clicks_waiting_rows: gauge("Rows read and not in ClickHouse yet."),
  clicks_oldest_waiting_seconds: gauge("Age of the oldest batch that is not in ClickHouse."),
  clicks_silent_producers: gauge(
    "Ingress processes that said nothing for 30 s and have not ended; look-ups wait for them.",
    LANE,
  ),
  clicks_stream_bytes: gauge("Bytes in a stream of clicks.", GROUP),
  clicks_stream_bytes_max: gauge("Bytes at which a stream drops its oldest messages.", GROUP),
  clicks_open_holes: gauge("Gaps that are open now."),
  clicks_holes_total: counter("Gaps in a producer's sequence."),
  clicks_missing_total: counter("Records that were missing when a gap opened."),
  clicks_lost_total: counter("Records that are lost, by reason.", {
    reason: ["declared", "unreadable"],
  }),
  clicks_repeated_total: counter("Records that were known already."),
  clicks_refused_total: counter("Jumps refused over too many gaps."),
  clicks_foreign_records_total: counter(
    "Records refused because another process has their producer number and epoch.",
  ),
  clicks_dead_messages_total: counter("Messages that cannot be decoded."),
  clicks_went_back_total: counter("Times that the table had lost rows."),
  clicks_clock_went_back_total: counter(
    "Times that a lane read its visits again because a clock had been ahead.",
  ),
  clicks_postgres_went_back_total: counter(
    "Times that Postgres was behind the epoch of a lane that ClickHouse knows.",
  ),
  clicks_audits_total: counter("Audits of a lane, by outcome.", { outcome: ["ok", "differs"] }),
  clicks_queries_total: counter("Queries for young clicks, by outcome.", {
    found: ["true", "false"],
  }),
  clicks_young: gauge("Young clicks in memory."),
  clicks_young_bytes: gauge("Size of the young clicks in memory."),
  clicks_unique_visits: gauge("Visits remembered for uniqueness."),
  clicks_unique_bytes: gauge("Size of the visits remembered for uniqueness."),
  clicks_oldest_visit_seconds: gauge("Age of the oldest visit that a lane remembers.", LANE),
  clicks_uniques_forgotten_total: counter(
    "Visits forgotten within their window because the memory was full; they may count as unique again.",
  ),
} as const;
