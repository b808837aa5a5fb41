import type { Log } from "../../../schemas/host/log.ts";
import type { ClickMetrics } from "../metrics.ts";
import type { IntakeEvents } from "./intake.ts";

/** How many refused producers are remembered, so that each is logged once. */
const FOREIGN_MAX = 1_000;

/** Counts and logs the events of a lane's intake. */
export function intakeEvents(log: Log, metrics: ClickMetrics): IntakeEvents {
  const foreign = new Set<string>();
  return {
    undecodable: (error, bytes) => {
      metrics.undecodable.add();
      log.error({ err: error, bytes }, "clicks.undecodable-message");
    },
    unreadable: (position) => log.error({ ...position }, "clicks.unreadable-record"),
    lost: (range) => {
      if (range.reason === "passed on") {
        log.warn({ ...range }, "clicks.coupon-click-recorded-elsewhere");
        return;
      }
      metrics.lost.add(range.to - range.from, { reason: range.reason });
      log.error({ ...range }, "clicks.lost");
    },
    hole: ({ producer, epoch }, [from, to]) => {
      metrics.holes.add();
      metrics.missing.add(to - from);
      log.error({ producer, epoch, from, to }, "clicks.hole");
    },
    repeated: (records) => metrics.repeated.add(records),
    foreign: ({ producer, epoch }, records) => {
      metrics.foreign.add(records);
      const key = `${producer}.${epoch}`;
      if (foreign.has(key)) return;
      if (foreign.size >= FOREIGN_MAX) foreign.clear();
      foreign.add(key);
      log.error({ producer, epoch, records }, "clicks.producer-number-used-twice");
    },
    visitsForgotten: (forgotten) => {
      metrics.visitsForgotten.add(forgotten.visits);
      log.error(
        {
          visits: forgotten.visits,
          offer: forgotten.offerId,
          knownFrom: new Date(forgotten.knownFromMs).toISOString(),
          todo: "earlier visitors of this offer may count as unique again and be paid a second time: raise UNIQUE_VISITS_MAX, or shorten the offer's unique_click_hours",
        },
        "clicks.visits-forgotten",
      );
    },
    refused: ({ producer, epoch }) => {
      metrics.refusedJumps.add();
      log.error({ producer, epoch }, "clicks.too-many-holes");
    },
  };
}
