import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { Throttle } from "../throttle.ts";

/** `full`: too many wait · `refused`: the conversion processors cannot store them · `end`: this process ended first. */
export type DropReason = "full" | "refused" | "end";

export type InboundEvents = {
  /** The calls are in Postgres. */
  kept(calls: number): void;
  /** A call was counted in the row of its kind instead of getting its own. */
  merged(): void;
  dropped(reason: DropReason, calls: number): void;
  sendFailed(error: unknown): void;
};

/** Logs numbers and reasons only: calls may contain personal data. */
export function inboundEvents(log: Log, registry: Metrics): InboundEvents {
  const kept = registry.counter("ingress_inbound_log_kept_total");
  const merged = registry.counter("ingress_inbound_log_merged_total");
  const dropped = registry.counter("ingress_inbound_log_dropped_total");
  const throttle = new Throttle();
  return {
    kept: (calls) => kept.add(calls),
    merged: () => merged.add(),
    dropped: (reason, calls) => {
      dropped.add(calls, { reason });
      throttle.note(reason, (times) => log.error({ reason, calls, times }, "inbound-log.dropped"));
    },
    sendFailed: (error) => {
      throttle.note("send", (times) => log.warn({ err: error, times }, "inbound-log.not-sent"));
    },
  };
}
