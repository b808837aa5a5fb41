import type { Metrics } from "../../schemas/host/metrics.ts";
import type { DeliveryKindName } from "./delivery.ts";

/** How an attempt ended; 'refused' was not sent, 'unrecorded' passed to another worker before it ended. */
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
    "Deliveries dealt with, by kind and result.",
  );
  const seconds = metrics.histogram("delivery_attempt_seconds", "How long they took, by kind.");
  const disabled = metrics.counter(
    "delivery_endpoints_disabled_total",
    "Endpoints that were disabled after failing for long, by kind.",
  );
  const faults = metrics.counter(
    "delivery_faults_total",
    "Statements of the queue that failed and are repeated.",
  );
  metrics.gauge("delivery_under_way", "Requests that wait for their answer.", read.underWay);
  metrics.gauge("delivery_queue_depth", "Deliveries that wait, up to 100,000.", read.depth);
  metrics.gauge(
    "delivery_oldest_due_seconds",
    "For how long the oldest delivery that is due has been so.",
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
