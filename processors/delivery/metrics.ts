import type { Metrics } from "../../schemas/host/metrics.ts";
import type { DeliveryKindName } from "./delivery.ts";

/** How an attempt ended. 'refused': it was not sent. 'unrecorded': another worker had leased the row before the attempt ended. */
export type AttemptResult = "delivered" | "retrying" | "failed" | "refused" | "unrecorded";

export type DeliveryMetrics = {
  attempted(kind: DeliveryKindName, result: AttemptResult, seconds: number): void;
  disabled(kind: DeliveryKindName): void;
  faulted(): void;
};

export function deliveryMetrics(
  metrics: Metrics,
  read: {
    readonly underWay: () => number;
    readonly depth: () => number | undefined;
    readonly lateSeconds: () => number | undefined;
  },
): DeliveryMetrics {
  const attempts = metrics.counter(
    "delivery_attempts_total",
    "Deliveries handled, by kind and result.",
  );
  const seconds = metrics.histogram(
    "delivery_attempt_seconds",
    "Duration of a delivery attempt, by kind.",
  );
  const disabled = metrics.counter(
    "delivery_endpoints_disabled_total",
    "Endpoints that were disabled because they kept failing, by kind.",
  );
  const faults = metrics.counter(
    "delivery_faults_total",
    "Statements on the queue that failed and are repeated.",
  );
  metrics.gauge("delivery_under_way", "Requests under way.", read.underWay);
  metrics.gauge("delivery_queue_depth", "Deliveries that wait, up to 100,000.", read.depth);
  metrics.gauge(
    "delivery_oldest_due_seconds",
    "Time since the oldest due delivery became due.",
    read.lateSeconds,
  );
  return {
    attempted: (kind, result, took) => {
      attempts.add(1, { kind, result });
      seconds.observe(took, { kind });
    },
    disabled: (kind) => disabled.add(1, { kind }),
    faulted: () => faults.add(),
  };
}
