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
  metrics.gauge("delivery_under_way", read.underWay);
  metrics.gauge("delivery_queue_depth", read.depth);
  metrics.gauge("delivery_oldest_due_seconds", read.lateSeconds);
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  return {
    attempts: metrics.counter("delivery_attempts_total"),
    attemptSeconds: metrics.histogram("delivery_attempt_seconds"),
    disabled: metrics.counter("delivery_endpoints_disabled_total"),
    faults: metrics.counter("delivery_faults_total"),
  };
}
