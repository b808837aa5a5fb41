import type { LandingResult } from "../schemas/events/inbound-call.ts";
import type { Log } from "../schemas/host/log.ts";
import type { Metrics } from "../schemas/host/metrics.ts";
import type { Pipeline, PipelineEvents } from "./journal/pipeline.ts";
import type { LaneReading } from "./journal/shipper.ts";
import type { ServerRefusal } from "./server.ts";
import { Throttle } from "./throttle.ts";

/** Every instrument of an ingress process, as events. */
export type IngressMetrics = PipelineEvents & {
  readonly registry: Metrics;
  answered(status: number): void;
  /** The server refused a request itself. */
  refused(cause: ServerRefusal["cause"]): void;
  /** Takes how long requests of a path take, in seconds. */
  timed(route: string): { observe(seconds: number): void };
  handlerFailed(error: unknown, requestId: string): void;
  /** A call of `/lp` was answered (LP-019). */
  landed(result: LandingResult): void;
  /** A new user agent was read by a few words only, because too many new ones came at once. */
  guessed(): void;
  /** Whether a sync of the disk failed in the last minute. */
  hasSyncFault(): boolean;
  /** Since the disk refused a write or a sync; undefined if it has refused none. */
  secondsSinceFault(): number | undefined;
};

export function openIngressMetrics(log: Log, metrics: Metrics): IngressMetrics {
  const counters = declareCounters(metrics);
  const seconds = metrics.histogram("ingress_request_seconds");
  const byClass = STATUS_CLASSES.map((name) => counters.answers.series({ class: name }));
  const records = new Map<number, ReturnType<typeof counters.recorded.series>>();
  return {
    registry: metrics,
    answered: (status) => {
      const series = byClass[Math.floor(status / 100) - 1];
      if (series !== undefined) series.value += 1;
    },
    handlerFailed: (error, requestId) => {
      counters.faults.add();
      log.error({ err: error, request_id: requestId }, "request.failed");
    },
    landed: (result) => counters.landed.add(1, { result }),
    taken: (lane) => {
      let series = records.get(lane);
      if (series === undefined) {
        series = counters.recorded.series({ lane: String(lane) });
        records.set(lane, series);
      }
      series.value += 1;
    },
    refused: (cause) => counters.refused.add(1, { cause }),
    timed: (route) => seconds.series({ route }),
    guessed: () => counters.guessed.add(),
    ...journalEvents(log, counters),
    ...journalTimes(metrics),
  };
}

type Counters = ReturnType<typeof declareCounters>;

function declareCounters(metrics: Metrics) {
  return {
    refused: metrics.counter("ingress_refused_total"),
    twins: metrics.counter("ingress_producer_twin_total"),
    answers: metrics.counter("ingress_answers_total"),
    faults: metrics.counter("ingress_handler_faults_total"),
    landed: metrics.counter("ingress_landing_calls_total"),
    guessed: metrics.counter("ingress_user_agents_guessed_total"),
    recorded: metrics.counter("ingress_records_total"),
    diskFaults: metrics.counter("ingress_journal_write_faults_total"),
    syncFaults: metrics.counter("ingress_journal_sync_faults_total"),
    unrecorded: metrics.counter("ingress_clicks_unrecorded_total"),
    lost: metrics.counter("ingress_records_lost_total"),
    shipped: metrics.counter("ingress_records_shipped_total"),
    retried: metrics.counter("ingress_publish_retries_total"),
    reshipped: metrics.counter("ingress_reshipped_ranges_total"),
  };
}

export function declarePipelineGauges(
  metrics: Metrics,
  pipeline: Pick<Pipeline, "lanes" | "segments" | "bytes" | "diskFreeBytes" | "roomBytes">,
): void {
  const gauges = (name: (typeof LANE_GAUGES)[number], read: (lane: LaneReading) => number): void =>
    metrics.gauges(name, () =>
      pipeline.lanes.map((one) => [{ lane: String(one.lane) }, read(one)]),
    );
  gauges("ingress_ship_depth", ({ depth }) => depth);
  gauges("ingress_unstored_records", ({ unstored }) => unstored);
  gauges("ingress_oldest_unstored_seconds", (lane) => lane.oldestUnstoredSeconds);
  metrics.gauge("ingress_journal_segments", () => pipeline.segments);
  metrics.gauge("ingress_journal_bytes", () => pipeline.bytes);
  metrics.gauge("ingress_journal_disk_free_bytes", () => pipeline.diskFreeBytes);
  metrics.gauge("ingress_journal_room_bytes", () => pipeline.roomBytes);
}

function journalTimes(metrics: Metrics): Pick<PipelineEvents, "journalTimes" | "published"> {
  const appends = metrics.histogram("ingress_journal_append_seconds").series({});
  const syncs = metrics.histogram("ingress_journal_sync_seconds").series({});
  const publishes = metrics.histogram("ingress_publish_seconds").series({});
  return {
    journalTimes: {
      appended: (seconds) => appends.observe(seconds),
      synced: (seconds) => syncs.observe(seconds),
    },
    published: (seconds) => publishes.observe(seconds),
  };
}

type JournalEvents = Omit<PipelineEvents, "taken" | "journalTimes" | "published"> &
  Pick<IngressMetrics, "hasSyncFault" | "secondsSinceFault">;

function journalEvents(log: Log, counters: Counters): JournalEvents {
  const throttle = new Throttle();
  let syncFailedAtMs = Number.NEGATIVE_INFINITY;
  let failedAtMs: number | undefined;
  return {
    diskFailed: (error) => {
      counters.diskFaults.add();
      failedAtMs = performance.now();
      throttle.note("write", (records) =>
        log.error({ err: error, records }, "journal.write-failed"),
      );
    },
    syncFailed: (error) => {
      counters.syncFaults.add();
      syncFailedAtMs = performance.now();
      failedAtMs = syncFailedAtMs;
      log.error({ err: error }, "journal.sync-failed");
    },
    hasSyncFault: () => performance.now() - syncFailedAtMs < SYNC_FAULT_MS,
    secondsSinceFault: () =>
      failedAtMs === undefined ? undefined : (performance.now() - failedAtMs) / 1_000,
    unrecorded: () => {
      counters.unrecorded.add();
      throttle.note("unrecorded", (records) => log.error({ records }, "journal.unrecorded"));
    },
    lost: (records) => {
      counters.lost.add(records);
      log.error({ records }, "journal.records-lost");
    },
    shipped: (records, lane) => counters.shipped.add(records, { lane: String(lane) }),
    twinFound: () => counters.twins.add(),
    retried: (error) => {
      counters.retried.add();
      throttle.note("retry", (times) => log.warn({ err: error, times }, "journal.publish-retried"));
    },
    reshipped: (ranges) => counters.reshipped.add(ranges),
  };
}

const LANE_GAUGES = [
  "ingress_ship_depth",
  "ingress_unstored_records",
  "ingress_oldest_unstored_seconds",
] as const;
const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Health stays red this long after a sync of the disk failed. */
const SYNC_FAULT_MS = 60_000;
