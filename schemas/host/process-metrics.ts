import { counter, gauge, histogram } from "./metric-definition.ts";

/** Metrics of every process. */
export const PROCESS_METRICS = {
  build_info: gauge("Always 1; what runs.", {
    role: ["ingress", "processors", "api"],
    version: "version of the release",
    commit: "commit that was built, or unknown",
  }),
  process_start_time_seconds: gauge("When the process started, in seconds since 1970."),
  process_cpu_seconds_total: counter("Processor time used.", { kind: ["user", "system"] }),
  process_resident_memory_bytes: gauge("Memory that the process holds."),
  process_heap_bytes: gauge("Memory of JavaScript objects: in use, and the limit.", {
    kind: ["used", "limit"],
  }),
  process_open_fds: gauge("Open files and sockets; absent where the system does not say."),
  gc_seconds_total: counter("Time that garbage collection stopped the process, by its kind.", {
    kind: ["minor", "major", "incremental", "weak"],
  }),
  event_loop_utilization: gauge(
    "Share of the time since the last scrape in which the event loop worked; 1 is saturated.",
  ),
  event_loop_delay_seconds: histogram(
    "How late a timer ran that was due: what a request waits before its handler.",
    "requests",
  ),
} as const;

/** The checks of `DURABILITY=strict` (schemas/checks). */
// biome-ignore format: one line for the checks of each server
export const DURABILITY_CHECKS = [
  "N1", "N2", "N3",
  "P1", "P2", "P3",
  "C1", "C2", "C3",
  "J1",
  "I1",
] as const;

/** Metrics of every process with `DURABILITY=strict`. */
export const DURABILITY_METRICS = {
  durability_violation: gauge(
    "1 while a check of DURABILITY=strict is violated; absent while its server is away.",
    { check: DURABILITY_CHECKS },
  ),
} as const;

/** Metrics of every process, of the servers that it uses. */
export const DEPENDENCY_METRICS = {
  dependency_up: gauge("1 while the server answers this process, asked every 5 s.", {
    server: ["postgres", "nats", "clickhouse"],
  }),
  dependency_seconds: histogram("Time until it answered.", "requests", {
    server: ["postgres", "nats", "clickhouse"],
    operation: ["ping"],
  }),
} as const;

/** Metrics of every process that answers requests. */
export const ACCESS_METRICS = {
  access_log_lines_dropped_total: counter(
    "Lines of the access log that found no room or could not be written.",
  ),
} as const;

/** Metrics of every process; both stay 0 without OTEL_EXPORTER_OTLP_ENDPOINT. */
export const TRACING_METRICS = {
  tracing_spans_dropped_total: counter(
    "Spans that found no room in the queue, or that the collector did not take.",
  ),
  tracing_spans_waiting: gauge("Spans that wait for the collector, at most 2,048."),
} as const;

/** Metrics of every process with a catalog. */
export const CATALOG_METRICS = {
  catalog_version: gauge("Version of the catalog in force."),
  catalog_unreadable_records: gauge(
    "Records in Postgres that this release cannot read; their last readable version is in force.",
  ),
  catalog_age_seconds: gauge("Time since Postgres last said what the catalog is."),
  catalog_rewinds_total: counter(
    "Times that a Postgres with another history was found and read from its beginning.",
  ),
} as const;
