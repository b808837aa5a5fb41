import type { LandingResult } from "../schemas/events/inbound-call.ts";
import type { Log } from "../schemas/host/log.ts";
import type { Counter, Metrics } from "../schemas/host/metrics.ts";
import type { Pipeline, PipelineEvents } from "./journal/pipeline.ts";
import { Throttle } from "./throttle.ts";

/** Every instrument of an ingress process, as events. */
export type IngressMetrics = PipelineEvents & {
  readonly registry: Metrics;
  answered(status: number): void;
  handlerFailed(error: unknown): void;
  /** A call of `/lp` was answered (LP-019). */
  landed(result: LandingResult): void;
  /** A new user agent was read by a few words only, because too many new ones came at once. */
  guessed(): void;
  /** Whether a sync of the disk failed in the last minute. */
  hasSyncFault(): boolean;
};

export function openIngressMetrics(log: Log, metrics: Metrics): IngressMetrics {
  const counters = declareCounters(metrics);
  const byClass = STATUS_CLASSES.map((name) => counters.answers.series({ class: name }));
  const everyRecord = counters.recorded.series({});
  return {
    registry: metrics,
    answered: (status) => {
      const series = byClass[Math.floor(status / 100) - 1];
      if (series !== undefined) series.value += 1;
    },
    handlerFailed: (error) => {
      counters.faults.add();
      log.error({ err: error }, "request.failed");
    },
    landed: (result) => counters.landed.add(1, { result }),
    taken: () => {
      everyRecord.value += 1;
    },
    guessed: () => counters.guessed.add(),
    ...journalEvents(log, counters),
  };
}

type Counters = ReturnType<typeof declareCounters>;

function declareCounters(metrics: Metrics) {
  const counter = (name: string, help: string): Counter => metrics.counter(name, help);
  return {
    answers: counter("ingress_answers_total", "Answers by status class."),
    faults: counter("ingress_handler_faults_total", "Requests whose handler failed."),
    landed: counter(
      "ingress_landing_calls_total",
      "Calls of /lp by result: the source of the click, or why there is none.",
    ),
    guessed: counter(
      "ingress_user_agents_guessed_total",
      "New user agents read by a few words only, because too many came at once.",
    ),
    recorded: counter("ingress_records_total", "Records taken, on disk or not."),
    diskFaults: counter("ingress_journal_write_faults_total", "Records the disk did not take."),
    syncFaults: counter(
      "ingress_journal_sync_faults_total",
      "Times that a sync of the disk failed.",
    ),
    unrecorded: counter(
      "ingress_clicks_unrecorded_total",
      "Records that were answered while neither disk nor JetStream had them.",
    ),
    lost: counter("ingress_records_lost_total", "Records that are in no journal."),
    shipped: counter("ingress_records_shipped_total", "Records acknowledged by JetStream."),
    retried: counter("ingress_publish_retries_total", "Messages that were sent again."),
    reshipped: counter("ingress_reshipped_ranges_total", "Ranges shipped again."),
  };
}

export function declarePipelineGauges(
  metrics: Metrics,
  pipeline: Pick<Pipeline, "depth" | "segments" | "roomBytes">,
): void {
  metrics.gauge(
    "ingress_ship_depth",
    "Records not yet acknowledged by JetStream.",
    () => pipeline.depth,
  );
  metrics.gauge("ingress_journal_segments", "Segments on disk.", () => pipeline.segments);
  metrics.gauge(
    "ingress_journal_room_bytes",
    "Bytes that the journal may still use on its disk; at 0 clicks go to JetStream directly.",
    () => pipeline.roomBytes,
  );
}

type JournalEvents = Omit<PipelineEvents, "taken"> & Pick<IngressMetrics, "hasSyncFault">;

function journalEvents(log: Log, counters: Counters): JournalEvents {
  const throttle = new Throttle();
  let syncFailedAtMs = Number.NEGATIVE_INFINITY;
  return {
    diskFailed: (error) => {
      counters.diskFaults.add();
      throttle.note("write", (records) =>
        log.error({ err: error, records }, "journal.write-failed"),
      );
    },
    syncFailed: (error) => {
      counters.syncFaults.add();
      syncFailedAtMs = performance.now();
      log.error({ err: error }, "journal.sync-failed");
    },
    hasSyncFault: () => performance.now() - syncFailedAtMs < SYNC_FAULT_MS,
    unrecorded: () => {
      counters.unrecorded.add();
      throttle.note("unrecorded", (records) => log.error({ records }, "journal.unrecorded"));
    },
    lost: (records) => {
      counters.lost.add(records);
      log.error({ records }, "journal.records-lost");
    },
    shipped: (records) => counters.shipped.add(records),
    retried: (error) => {
      counters.retried.add();
      throttle.note("retry", (times) => log.warn({ err: error, times }, "journal.publish-retried"));
    },
    reshipped: (ranges) => counters.reshipped.add(ranges),
  };
}

const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/** Health stays red this long after a sync of the disk failed. */
const SYNC_FAULT_MS = 60_000;
