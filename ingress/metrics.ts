import type { Log } from "../schemas/host/log.ts";
import { Metrics } from "../schemas/host/metrics.ts";

/** Every instrument of an ingress process, as events. */
export type IngressMetrics = {
  readonly registry: Metrics;
  answered(status: number): void;
  handlerFailed(error: unknown): void;
  written(records: number): void;
  diskFailed(error: unknown, records: number): void;
  /** Answered without being anywhere; a negative number: JetStream has taken them after all. */
  unrecorded(records: number): void;
  hasUnrecorded(): boolean;
  lost(records: number): void;
  shipped(records: number): void;
  retried(): void;
  reshipped(ranges: number): void;
};

type Gauges = {
  readonly shipDepth: () => number | undefined;
  readonly journalSegments: () => number | undefined;
  readonly catalogVersion: () => number;
  readonly asyncInFlight: () => number;
};

export function openIngressMetrics(log: Log, gauges: Gauges): IngressMetrics {
  const metrics = new Metrics();
  const answers = metrics.counter("ingress_answers_total", "Answers by status class.");
  const faults = metrics.counter(
    "ingress_handler_faults_total",
    "Requests that a handler failed on.",
  );
  const recorded = metrics.counter("ingress_records_total", "Records written to the journal.");
  const unrecorded = metrics.counter(
    "ingress_clicks_unrecorded_total",
    "Records that were answered while neither disk nor JetStream had them.",
  );
  const lost = metrics.counter(
    "ingress_records_lost_total",
    "Records that no journal holds any more.",
  );
  const shipped = metrics.counter(
    "ingress_records_shipped_total",
    "Records acknowledged by JetStream.",
  );
  const retried = metrics.counter(
    "ingress_publish_retries_total",
    "Messages that were sent again.",
  );
  const reshipped = metrics.counter("ingress_reshipped_ranges_total", "Ranges shipped once more.");
  metrics.gauge(
    "ingress_ship_depth",
    "Records not yet acknowledged by JetStream.",
    gauges.shipDepth,
  );
  metrics.gauge("ingress_journal_segments", "Segments on disk.", gauges.journalSegments);
  metrics.gauge(
    "ingress_catalog_version",
    "Version of the catalog in force.",
    gauges.catalogVersion,
  );
  metrics.gauge(
    "ingress_requests_in_flight",
    "Requests that wait for another process.",
    gauges.asyncInFlight,
  );
  let pending = 0;
  return {
    registry: metrics,
    answered: (status) => answers.add(1, STATUS_CLASSES[Math.floor(status / 100)] ?? {}),
    handlerFailed: (error) => {
      faults.add();
      log.error({ err: error }, "request.failed");
    },
    written: (records) => recorded.add(records),
    diskFailed: (error, records) => {
      log.error({ err: error, records }, "journal.write-failed");
    },
    unrecorded: (records) => {
      pending += records;
      if (records < 0) return;
      unrecorded.add(records);
      log.error({ records }, "journal.unrecorded");
    },
    hasUnrecorded: () => pending > 0,
    lost: (records) => {
      lost.add(records);
      log.error({ records }, "journal.records-lost");
    },
    shipped: (records) => shipped.add(records),
    retried: () => retried.add(),
    reshipped: (ranges) => reshipped.add(ranges),
  };
}

const STATUS_CLASSES: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  2: { class: "2xx" },
  3: { class: "3xx" },
  4: { class: "4xx" },
  5: { class: "5xx" },
};
