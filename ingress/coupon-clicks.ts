import type { z } from "zod";
import { ClickRecord } from "../schemas/events/click-record.ts";
import {
  type CouponClick,
  CouponClickOrder,
  type CouponClickTaker,
} from "../schemas/events/coupon-click.ts";
import type { Log } from "../schemas/host/log.ts";
import { clickIdParts } from "../schemas/ids/click-id.ts";
import type { NatsLink } from "../schemas/nats/nats-link.ts";
import type { Clock } from "../schemas/time/clock.ts";
import { encodeRecord } from "./encode-record.ts";
import type { Recorded } from "./route.ts";

const QUEUE_GROUP = "coupon-clicks";

/**
 * Returns the record of a coupon's click (G115), or undefined once this process may no longer record it. The caller must record
 * it in the same turn of the event loop, so that every batch cut later includes it.
 */
export function couponClickRecord(
  click: CouponClick,
  untilMs: number,
  clock: Clock,
): Recorded | undefined {
  if (clock.nowMs() > untilMs) return undefined;
  const line = encodeRecord(
    ClickRecord.parse({
      ...click,
      link_type: "coupon",
      status: "none",
      status_reason: "coupon",
    }),
  );
  return { lane: clickIdParts(click.click_id).shard, line };
}

/** Records coupon clicks which their own ingress did not record (TRK-037). The conversion processors send them. */
export function takeCouponClicks(options: {
  readonly link: NatsLink;
  readonly producer: number;
  readonly record: (recorded: Recorded) => unknown;
  readonly clock: Clock;
  readonly log: Log;
}): void {
  const { link, producer, record, clock, log } = options;
  const taker: z.infer<typeof CouponClickTaker> = { producer };
  link.onConnection(({ connection, subjects }) => {
    connection.subscribe(subjects.couponClickTaker, {
      queue: QUEUE_GROUP,
      callback: (error, message) => {
        if (error === null) message.respond(JSON.stringify(taker));
        else log.error({ err: error }, "coupon-clicks.subscription-failed");
      },
    });
    connection.subscribe(subjects.couponClick(producer), {
      callback: (error, message) => {
        try {
          if (error !== null) throw error;
          const { click, untilMs } = CouponClickOrder.parse(message.json());
          const recorded = couponClickRecord(click, untilMs, clock);
          if (recorded !== undefined) record(recorded);
        } catch (fault) {
          log.error({ err: fault }, "coupon-clicks.not-recorded");
        }
      },
    });
  });
}
