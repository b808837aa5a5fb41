import type { Cause } from "../../schemas/events/cause.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import type { Tracing } from "../../schemas/tracing/tracing.ts";
import type { UnknownClickRelay } from "./answer/unknown-click-relay.ts";
import type { Attributor } from "./attribute/attribute-click.ts";
import type { RecordQueue } from "./record/record-queue.ts";

/** What the handling of a report needs. */
export type ReportSources = Attributor & {
  readonly clock: Clock;
  readonly recorder: RecordQueue;
  readonly relay: UnknownClickRelay;
  /** The request that is being handled. */
  readonly cause?: Cause | undefined;
  readonly tracing?: Tracing | undefined;
};
