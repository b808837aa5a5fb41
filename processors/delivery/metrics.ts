import type { Metrics } from "../../schemas/host/metrics.ts";

export type DeliveryMetrics = ReturnType<typeof declareCounters>;

export function deliveryMetrics(
  metrics: Metrics,
  read: {
    readonly underWay: () => number;
    readonly depth: () => number | undefined;
    readonly lateSeconds: () => number | undefined;
  },
): DeliveryMetrics {
  metrics.gauge("delivery_under_way", "Requests under way.", read.underWay);
  metrics.gauge("delivery_queue_depth", "Deliveries that wait, up to 100,000.", read.depth);
  metrics.gauge(
    "delivery_oldest_due_seconds",
    "Time since the oldest due delivery became due.",
    read.lateSeconds,
  );
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  return {
    attempts: metrics.counter(
      "delivery_attempts_total",
      "Deliveries handled, by kind and result. 'refused': not sent. 'unrecorded': another worker had leased it before the attempt ended.",
    ),
    attemptSeconds: metrics.histogram(
      "delivery_attempt_seconds",
      "Duration of a delivery attempt, by kind.",
    ),
    disabled: metrics.counter(
      "delivery_endpoints_disabled_total",
      "Endpoints that were disabled because they kept failing, by kind.",
    ),
    faults: metrics.counter(
      "delivery_faults_total",
      "Statements on the queue that failed and are repeated.",
    ),
  };
}
