import type { Log } from "../../schemas/host/log.ts";
import type { IntakeEvents } from "./intake.ts";
import type { ClickMetrics } from "./metrics.ts";

/** What a lane's intake meets, as counters and log lines. */
export function intakeEvents(log: Log, metrics: ClickMetrics): IntakeEvents {
  return {
    undecodable: (error, bytes) => {
      metrics.undecodable();
      log.error({ err: error, bytes }, "clicks.undecodable-message");
    },
    unreadable: (place) => log.error({ ...place }, "clicks.unreadable-record"),
    lost: (range) => {
      metrics.lost(range.reason, range.to - range.from);
      log.error({ ...range }, "clicks.lost");
    },
    hole: ({ producer, epoch }, [from, to]) => {
      metrics.hole(to - from);
      log.error({ producer, epoch, from, to }, "clicks.hole");
    },
    repeated: (records) => metrics.repeated(records),
    refused: ({ producer, epoch }) => {
      metrics.refused();
      log.error({ producer, epoch }, "clicks.too-many-holes");
    },
  };
}
