import { Backoff } from "../../schemas/host/backoff.ts";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import type { OpenSpan, Tracing } from "../../schemas/tracing/tracing.ts";
import { decideSettlement, refusedSettlement } from "./decide-settlement.ts";
import { giveBackDeliveries, type Settled, type Settlement, settleDelivery } from "./deliveries.ts";
import type { DeliveryKind, LeasedDelivery, Outgoing, Prepared } from "./delivery.ts";
import type { DeliveryMetrics } from "./metrics.ts";
import type { SharedSettlements } from "./shared-settlements.ts";

export type DeliverDeps = {
  readonly pool: Pool;
  readonly settlements: SharedSettlements;
  readonly outgoing: Outgoing;
  readonly log: Log;
  readonly metrics: DeliveryMetrics;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
};

/** When a lease began and how long it lasts, by a clock that keeps running while the process is frozen. */
export type Lease = { readonly fromMs: number; readonly ms: number };

/** Limit for one request, redirects included (G126, G130). */
const TIMEOUT_MS = 10_000;
/** A request that begins later than this share of its lease is not sent: it might end after another worker has leased the row. */
const SEND_WITHIN = 1 / 3;
const BACKOFF = { firstMs: 250, longestMs: 5_000, spread: [0.5, 1.5] } as const;

/** Sends a leased delivery and records the result. Returns false if the endpoint did not answer in time. Never throws. */
export async function deliver(
  deps: DeliverDeps,
  delivery: LeasedDelivery,
  { kind, prepared, lease }: { kind: DeliveryKind; prepared: Prepared; lease: Lease },
): Promise<boolean> {
  const startedAtMs = performance.now();
  if (startedAtMs - lease.fromMs > lease.ms * SEND_WITHIN) {
    await giveBack(deps, [delivery]);
    count(deps.metrics, kind, { result: "unrecorded", seconds: 0 });
    return true;
  }
  const span = spanOf(deps, delivery);
  const { settlement, isInTime } = await send(deps, delivery, { kind, prepared });
  const settled = await record(deps, delivery, { settlement, untilMs: lease.fromMs + lease.ms });
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const isStale = settled === undefined || settled === "stale";
  const result = settlement.is_sent ? settlement.status : "refused";
  count(deps.metrics, kind, { result: isStale ? "unrecorded" : result, seconds });
  logOutcome(deps, delivery, { settlement, settled, seconds });
  span?.end({ result, status: settlement.response_status ?? undefined }, { isFailed: isStale });
  return isInTime;
}

/** A delivery whose request was not traced has no span. */
function spanOf({ tracing }: DeliverDeps, delivery: LeasedDelivery): OpenSpan | undefined {
  const { traceparent: parent, request_id, kind: delivery_kind, attempts: attempt } = delivery;
  if (parent === null) return undefined;
  const facts = { request_id: request_id ?? undefined, delivery_kind, attempt };
  return tracing?.start("delivery.attempt", { parent, facts });
}

/** Gives back leased deliveries that were not sent. They lose no attempt, unless this statement fails. Never throws. */
export async function giveBack(
  { pool, log }: Pick<DeliverDeps, "pool" | "log">,
  deliveries: readonly LeasedDelivery[],
): Promise<void> {
  try {
    await giveBackDeliveries(pool, deliveries);
  } catch (error) {
    log.debug({ err: error, deliveries: deliveries.length }, "delivery.not-given-back");
  }
}

function count(
  { attempts, attemptSeconds }: DeliveryMetrics,
  { name: kind }: DeliveryKind,
  {
    result,
    seconds,
  }: {
    readonly result: Settlement["status"] | "refused" | "unrecorded";
    readonly seconds: number;
  },
): void {
  attempts.add(1, { kind, result });
  attemptSeconds.observe(seconds, { kind });
}

async function send(
  { outgoing, clock }: DeliverDeps,
  delivery: LeasedDelivery,
  { kind, prepared }: { kind: DeliveryKind; prepared: Prepared },
): Promise<{ readonly settlement: Settlement; readonly isInTime: boolean }> {
  if (prepared.kind === "refused")
    return { settlement: refusedSettlement(prepared), isInTime: true };
  const { request } = prepared;
  const { redirectsMax } = kind;
  const connectionsOf = `${delivery.kind} ${delivery.endpoint_id}`;
  const how = { redirectsMax, connectionsOf, timeoutMs: TIMEOUT_MS };
  const sentAtMs = performance.now();
  const attempt = await outgoing.attempt({ ...request, ...how });
  const settlement = decideSettlement({
    delivery,
    kind,
    attempt,
    request,
    durationMs: performance.now() - sentAtMs,
    nowMs: clock.nowMs(),
    random: Math.random(),
  });
  return { settlement, isInTime: attempt.kind === "answered" || attempt.isPermanent };
}

/**
 * Tries until the lease ends. The first attempt shares a statement, later ones have their own. If no attempt succeeds, the result is
 * lost and the delivery is sent a second time.
 */
async function record(
  { pool, settlements, log, metrics, signal }: DeliverDeps,
  delivery: LeasedDelivery,
  { settlement, untilMs }: { settlement: Settlement; untilMs: number },
): Promise<Settled | undefined> {
  const backoff = new Backoff({ ...BACKOFF, signal });
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (isFirst) return await settlements.ask({ delivery, settlement });
      return await settleDelivery(pool, delivery, settlement);
    } catch (error) {
      metrics.faults.add();
      const { id, request_id } = delivery;
      log.warn({ err: error, request_id, delivery: id }, "delivery.result-not-recorded");
      const waitMs = backoff.failed(error);
      if (signal.aborted || performance.now() + waitMs > untilMs) return undefined;
      await pause(waitMs, signal);
    }
  }
}

function logOutcome(
  { log, metrics }: DeliverDeps,
  { id, kind, endpoint_id, attempts, request_id }: LeasedDelivery,
  outcome: { settlement: Settlement; settled: Settled | undefined; seconds: number },
): void {
  const { settled, seconds } = outcome;
  const { status, error, response_status, retry_in_ms } = outcome.settlement;
  // Do not log the URL and the answer: both may contain secrets of the two sides.
  const line = { request_id, delivery: id, kind, endpoint: endpoint_id, attempt: attempts, status };
  const how = { error, response_status, retry_in_ms, seconds, settled };
  log.debug({ ...line, ...how }, "delivery.attempted");
  if (settled !== "disabled") return;
  metrics.disabled.add(1, { kind });
  log.warn({ request_id, kind, endpoint: endpoint_id, error }, "delivery.endpoint-disabled");
}
