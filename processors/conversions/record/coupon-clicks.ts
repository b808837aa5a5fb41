import { z } from "zod";
import { askWriter } from "../../../schemas/click-lookup/ask-writer.ts";
import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";
import type { ClickQuery } from "../../../schemas/events/click-query.ts";
import {
  COUPON_CLICK_MS,
  CouponClick,
  type CouponClickOrder,
  CouponClickTaker,
} from "../../../schemas/events/coupon-click.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Metrics } from "../../../schemas/host/metrics.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { ask } from "../../../schemas/nats/ask.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import type { StoredClicks } from "../attribute/stored-clicks.ts";

const ROWS_PER_ROUND = 100;
const ROUND_MS = 1_000;
const ASK_TIMEOUT_MS = 500;

const PendingClick = z.object({
  click_id: z.string(),
  click: CouponClick,
  producer: z.int(),
  until_ms: z.int(),
});
type PendingClick = z.infer<typeof PendingClick>;

export type CouponClickSources = {
  readonly pool: Queryable;
  readonly nats: Nats;
  readonly storedClicks: StoredClicks;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
};

/**
 * Ensures that every conversion by coupon gets exactly one click, even if a process dies between the commit and the click (TRK-037).
 * One ingress at a time may record the click, until a deadline on its own clock. When everything that it recorded before the deadline
 * is known and the click is missing, one statement, which only one process can win, passes the right to another ingress.
 * An ingress whose journal cannot be read keeps its right until the journal is given up, by command or after PRODUCER_PATIENCE_HOURS;
 * there is no guarantee before that. The journal may come back later and contain the click. So the statement also notes which ingress
 * must no longer record the click, and the click writers drop that record.
 */
export function startCouponClicks(sources: CouponClickSources & { readonly signal: AbortSignal }): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  const completing = completeUntil(sources, AbortSignal.any([sources.signal, stop.signal]));
  return {
    close: async () => {
      stop.abort();
      await completing;
    },
  };
}

async function completeUntil(sources: CouponClickSources, signal: AbortSignal): Promise<void> {
  const passedOn = sources.metrics.counter("conversions_coupon_clicks_passed_on_total");
  const failures = sources.metrics.counter("conversions_coupon_click_failures_total");
  while (!signal.aborted) {
    let count = 0;
    try {
      const due = await takeDue(sources.pool);
      count = due.length;
      await Promise.all(
        due.map(async (one) => {
          if (!(await settle(sources, one))) return;
          passedOn.add(1);
          sources.log.warn({ click: one.click_id }, "conversions.coupon-click-passed-on");
        }),
      );
    } catch (error) {
      failures.add(1);
      sources.log.warn({ err: error }, "conversions.coupon-clicks-not-completed");
    }
    if (count < ROWS_PER_ROUND) await pause(ROUND_MS, signal);
  }
}

/** Clicks that no other process is checking now. If this process dies, they are due again 10 s later. */
async function takeDue(db: Queryable): Promise<readonly PendingClick[]> {
  const { rows } = await db.query({
    name: "take-coupon-clicks",
    text: `update coupon_click set due_at = clock_timestamp() + interval '10 seconds'
           where click_id in (
             select click_id from coupon_click where due_at <= clock_timestamp() order by due_at limit $1
             for update skip locked)
           returning click_id, click, producer, until_ms`,
    values: [ROWS_PER_ROUND],
  });
  return rows.map((row) => PendingClick.parse(row));
}

/** Returns whether the right to record the click passed to another ingress. */
async function settle(sources: CouponClickSources, pending: PendingClick): Promise<boolean> {
  // Ask the writer first: clicks that leave its memory in the meantime are then in ClickHouse.
  const { click_id: clickId, producer, until_ms: untilMs } = pending;
  const { shard } = clickIdParts(clickId);
  const query: ClickQuery = { by: "id", shard, clickId, recordedBy: { producer, untilMs } };
  const young = await askWriter(sources.nats, query, z.unknown());
  if (young === undefined) return false;
  const stored = await sources.storedClicks.find(pending.click_id, pending.click.ts);
  if (stored === "away") return false;
  if (young.clicks.length > 0 || stored !== undefined) {
    await forget(sources.pool, pending);
    return false;
  }
  if (young.isAllKnown === true) return await passOn(sources, pending, "all is known");
  // A journal that is silent for this long counts as lost, even if no writer reports that it was given up.
  const isLost = young.isGivenUp === true || sources.clock.nowMs() - untilMs > JOURNALED_MS;
  return isLost && (await passOn(sources, pending, "given up"));
}

async function passOn(
  { pool, nats, clock }: CouponClickSources,
  pending: PendingClick,
  cause: "all is known" | "given up",
): Promise<boolean> {
  const taker = await ask(nats, {
    subject: ({ couponClickTaker }) => couponClickTaker,
    body: {},
    timeoutMs: ASK_TIMEOUT_MS,
    answer: CouponClickTaker,
  });
  if (taker === undefined) return false;
  // The ingress is alive again: soon all of its journal is known.
  if (cause === "given up" && taker.producer === pending.producer) return false;
  const untilMs = clock.nowMs() + COUPON_CLICK_MS;
  const { rowCount } = await pool.query({
    name: "pass-coupon-click-on",
    text: `with moved as (
             update coupon_click set producer = $4, until_ms = $5, due_at = clock_timestamp() + interval '2 seconds'
             where click_id = $1 and producer = $2 and until_ms = $3
               and not exists (select from coupon_click_passed p where p.click_id = $1 and p.producer = $4)
             returning click_id),
           noted as (
             insert into coupon_click_passed (click_id, producer) select click_id, $2 from moved where $6::boolean
             on conflict do nothing)
           select click_id from moved`,
    values: [
      pending.click_id,
      pending.producer,
      pending.until_ms,
      taker.producer,
      untilMs,
      cause === "given up",
    ],
  });
  if (rowCount !== 1) return false;
  const order: CouponClickOrder = { click: pending.click, untilMs };
  nats.connection.publish(nats.subjects.couponClick(taker.producer), JSON.stringify(order));
  return true;
}

async function forget(db: Queryable, { click_id: clickId }: PendingClick): Promise<void> {
  await db.query({
    name: "forget-coupon-click",
    text: "delete from coupon_click where click_id = $1",
    values: [clickId],
  });
}
