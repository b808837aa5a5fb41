import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { Throttle } from "../throttle.ts";

/** `full`: too many wait · `refused`: the conversion processors cannot store them · `end`: this process has ended meanwhile. */
export type DropReason = "full" | "refused" | "end";

export type InboundEvents = {
  /** They are in Postgres. */
  kept(calls: number): void;
  /** Counted with others of its kind instead of having a row of its own. */
  merged(): void;
  dropped(reason: DropReason, calls: number): void;
  sendFailed(error: unknown): void;
};

/** What calls say of persons is in no line of the log: numbers and reasons only. */
export function inboundEvents(log: Log, registry: Metrics): InboundEvents {
  const kept = registry.counter("ingress_inbound_log_kept_total", "Calls told and stored.");
  const merged = registry.counter(
    "ingress_inbound_log_merged_total",
    "Refused calls that were counted in a row of their kind: there were too many for a row each.",
  );
  const dropped = registry.counter("ingress_inbound_log_dropped_total", "Calls lost, by reason.");
  const throttle = new Throttle();
  return {
    kept: (calls) => kept.add(calls),
    merged: () => merged.add(),
    dropped: (reason, calls) => {
      dropped.add(calls, { reason });
      throttle.note(reason, (times) => log.error({ reason, calls, times }, "inbound-log.dropped"));
    },
    sendFailed: (error) => {
      throttle.note("send", (times) => log.warn({ err: error, times }, "inbound-log.not-told"));
    },
  };
}
