import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { decideSettlement, refusedSettlement } from "./decide-settlement.ts";
import {
  leaseDueDeliveries,
  measureQueue,
  type Settled,
  type Settlement,
  settleDelivery,
} from "./deliveries.ts";
import type { DeliveryKind, LeasedDelivery, Outgoing, Prepared } from "./delivery.ts";
import { DestinationSlots, SLOTS_A_DESTINATION } from "./destination-slots.ts";
import { deliveryMetrics } from "./metrics.ts";

export type DeliveryDeps = {
  readonly pool: Pool;
  readonly outgoing: Outgoing;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

export type DeliverySettings = {
  readonly kinds: readonly DeliveryKind[];
  /** How long a worker that says nothing keeps what it took. */
  readonly leaseMs?: number;
};

const LEASE_MS = 30_000;
/** Of one request, redirects included (G126, G130). */
const TIMEOUT_MS = 10_000;
/** A request that begins later than this after its lease might end when the row is another's: it is not sent. */
const SEND_WITHIN_MS = LEASE_MS / 2 - TIMEOUT_MS / 2;
/** One statement an interval when nothing is due; a new row waits for half of it on average. */
const IDLE_MS = 100;
const ROWS_A_LEASE = 200;
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5_000;
const MEASURE_MS = 5_000;

type Sent = { readonly settlement: Settlement; readonly isInTime: boolean };

/**
 * Sends what is due until it is closed; what is under way then is waited for. Any number of processes share the work, row by row.
 * A row is in the hands of one worker until its lease ends; who comes too late to record a result records none (P22).
 */
export function startDelivery(
  deps: DeliveryDeps,
  settings: DeliverySettings,
): { close(): Promise<void> } {
  const { pool, outgoing, log, clock } = deps;
  const kinds = new Map(settings.kinds.map((kind) => [kind.name, kind]));
  const leaseMs = settings.leaseMs ?? LEASE_MS;
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const slots = new DestinationSlots();
  const underWay = new Set<Promise<void>>();
  let measured: { depth: number; lateMs: number } | undefined;
  let after = "";
  let wake: () => void = () => undefined;
  const metrics = deliveryMetrics(deps.metrics, {
    underWay: () => slots.underWay,
    depth: () => measured?.depth,
    lateSeconds: () => (measured === undefined ? undefined : measured.lateMs / 1_000),
  });
  const running = Promise.all([run(), measure()]);

  async function run(): Promise<void> {
    let backoffMs = BACKOFF_MS_MIN;
    while (!signal.aborted) {
      try {
        const taken = slots.free === 0 ? 0 : await sendDue();
        backoffMs = BACKOFF_MS_MIN;
        if (taken === 0) await idle(IDLE_MS);
      } catch (error) {
        metrics.faulted();
        log.warn({ err: error, backoffMs }, "delivery.queue-failed");
        await idle(backoffMs * (0.5 + Math.random()));
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
      }
    }
  }

  /** Leases what there are slots for and begins to send it; answers how many rows. */
  async function sendDue(): Promise<number> {
    const leasedAtMs = performance.now();
    const leased = await leaseDueDeliveries(pool, {
      token: randomUUID(),
      leaseMs,
      rowsMax: Math.min(slots.free, ROWS_A_LEASE),
      rowsADestination: SLOTS_A_DESTINATION,
      limited: slots.limited(),
      after,
    });
    after = leased.at(-1)?.destination ?? "";
    for (const kind of kinds.values()) {
      const ofKind = leased.filter((delivery) => delivery.kind === kind.name);
      if (ofKind.length === 0) continue;
      // A row that cannot be prepared now comes back when its lease ends.
      const prepared = await kind.prepare(pool, ofKind);
      for (const delivery of ofKind) begin(delivery, kind, { leasedAtMs, prepared });
    }
    return leased.length;
  }

  function begin(
    delivery: LeasedDelivery,
    kind: DeliveryKind,
    from: { leasedAtMs: number; prepared: ReadonlyMap<string, Prepared> },
  ): void {
    slots.take(delivery.destination);
    const prepared = from.prepared.get(delivery.id) ?? GONE;
    const work = deliver(delivery, kind, { prepared, leasedAtMs: from.leasedAtMs }).then(
      (isInTime) => {
        if (slots.give(delivery.destination, { isInTime })) wake();
        underWay.delete(work);
      },
    );
    underWay.add(work);
  }

  /** Answers whether the destination can have more. Never throws. */
  async function deliver(
    delivery: LeasedDelivery,
    kind: DeliveryKind,
    { prepared, leasedAtMs }: { prepared: Prepared; leasedAtMs: number },
  ): Promise<boolean> {
    const startedAtMs = performance.now();
    // A process that was frozen finds its leases over, by a clock that went on meanwhile.
    if (startedAtMs - leasedAtMs > Math.min(SEND_WITHIN_MS, leaseMs)) {
      metrics.attempted(kind.name, "unrecorded", 0);
      return true;
    }
    const { settlement, isInTime } = await send(delivery, kind, prepared);
    const settled = await record(delivery, settlement, leasedAtMs + leaseMs);
    const seconds = (performance.now() - startedAtMs) / 1_000;
    const isStale = settled === undefined || settled === "stale";
    const result = settlement.is_sent ? settlement.status : "refused";
    metrics.attempted(kind.name, isStale ? "unrecorded" : result, seconds);
    logAttempt(delivery, settlement, { settled, seconds });
    return isInTime;
  }

  async function send(
    delivery: LeasedDelivery,
    kind: DeliveryKind,
    prepared: Prepared,
  ): Promise<Sent> {
    if (prepared.kind === "refused")
      return { settlement: refusedSettlement(prepared), isInTime: true };
    const { request } = prepared;
    const { redirectsMax } = kind;
    const attempt = await outgoing.attempt({ ...request, redirectsMax, timeoutMs: TIMEOUT_MS });
    const settlement = decideSettlement({
      ...{ delivery, kind, attempt, url: request.url.href },
      ...{ nowMs: clock.nowMs(), random: Math.random() },
    });
    return { settlement, isInTime: attempt.kind === "answered" || attempt.isPermanent };
  }

  /** Tries until the lease is over: a result that is lost is sent a second time. */
  async function record(
    delivery: LeasedDelivery,
    settlement: Settlement,
    untilMs: number,
  ): Promise<Settled | undefined> {
    for (let backoffMs = BACKOFF_MS_MIN; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      try {
        return await settleDelivery(pool, delivery, settlement);
      } catch (error) {
        metrics.faulted();
        log.warn({ err: error, delivery: delivery.id }, "delivery.result-not-recorded");
        if (signal.aborted || performance.now() + backoffMs > untilMs) return undefined;
        await sleep(backoffMs * (0.5 + Math.random()));
      }
    }
  }

  function logAttempt(
    delivery: LeasedDelivery,
    settlement: Settlement,
    { settled, seconds }: { settled: Settled | undefined; seconds: number },
  ): void {
    const { id, kind, endpoint_id, attempts } = delivery;
    const { status, error, response_status, retry_in_ms } = settlement;
    // Neither the URL nor the answer: both hold what only the two sides may know.
    const line = { delivery: id, kind, endpoint: endpoint_id, attempt: attempts, status, error };
    log.debug({ ...line, response_status, retry_in_ms, seconds, settled }, "delivery.attempted");
    if (settled !== "disabled") return;
    metrics.disabled(kind);
    log.warn({ kind, endpoint: endpoint_id, error }, "delivery.endpoint-disabled");
  }

  async function measure(): Promise<void> {
    while (!signal.aborted) {
      try {
        measured = await measureQueue(pool);
      } catch (error) {
        measured = undefined;
        log.debug({ err: error }, "delivery.queue-not-measured");
      }
      await sleep(MEASURE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Ends early when a destination that was full has a free slot, and with the work. */
  async function idle(ms: number): Promise<void> {
    const early = new AbortController();
    wake = () => early.abort();
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, early.signal]) }).catch(
      () => undefined,
    );
    wake = () => undefined;
  }

  return {
    close: async () => {
      stop.abort();
      await running;
      await Promise.all(underWay);
    },
  };
}

const GONE: Prepared = {
  kind: "refused",
  error: "endpoint was deleted",
  isEndpointsFault: false,
};
