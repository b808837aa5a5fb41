import { randomUUID } from "node:crypto";
import { Backoff } from "../../schemas/host/backoff.ts";
import { IdlePause } from "../../schemas/host/idle-pause.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { pause } from "../../schemas/host/pause.ts";
import { type DeliverDeps, deliver, giveBack, type Lease } from "./deliver.ts";
import { leaseDueDeliveries, listDueEndpoints, measureQueue } from "./deliveries.ts";
import type { DeliveryKind, LeasedDelivery, Prepared } from "./delivery.ts";
import { DeliverySlots, type Endpoint } from "./delivery-slots.ts";
import { deliveryMetrics } from "./metrics.ts";
import { shareSettlements } from "./shared-settlements.ts";

export type DeliveryDeps = Omit<DeliverDeps, "metrics" | "settlements"> & {
  readonly metrics: Metrics;
};

export type DeliverySettings = {
  readonly kinds: readonly DeliveryKind[];
};

/** After this time without a result, other workers may lease the row. */
const LEASE_MS = 30_000;
/** Pause between statements when nothing is due. A new row waits for half of it on average. */
const PAUSES = { busyMs: 100, idleMs: 400 } as const;
/** With thousands of waiting endpoints the statement takes long. The pause then lasts as long as the statement took, up to this. */
const IDLE_MS_MAX = 1_000;
const ROWS_PER_LEASE = 200;
/**
 * During a backlog, endpoints with due rows are listed only this often. A row of an endpoint that is not in the list waits for the next
 * one.
 */
const LIST_MS = 50;
const BACKOFF = { firstMs: 250, longestMs: 5_000, spread: [0.5, 1.5] } as const;
const MEASURE_MS = 5_000;

const GONE: Prepared = {
  kind: "refused",
  error: "endpoint was deleted",
  isEndpointsFault: false,
};

/**
 * Sends due deliveries until it is closed, and then waits for those under way. Any number of processes share the work, row by row. A
 * row belongs to one worker until its lease ends; a worker that is too late records no result (P22).
 */
export function startDelivery(
  deps: DeliveryDeps,
  settings: DeliverySettings,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const worker = new DeliveryWorker({ ...deps, signal }, settings);
  const running = worker.run();
  return {
    close: async () => {
      stop.abort();
      await running;
    },
  };
}

/** Holds at most as many deliveries as there are slots: a row is leased only when its request can begin at once. */
class DeliveryWorker {
  readonly #deps: DeliverDeps;
  readonly #kinds: readonly DeliveryKind[];
  readonly #slots = new DeliverySlots();
  readonly #idlePause = new IdlePause(PAUSES);
  readonly #underWay = new Set<Promise<void>>();
  #measured: { readonly depth: number; readonly lateMs: number } | undefined;
  /** Endpoints with due rows. Set only if each of them had at least as many rows as it was granted. */
  #listed: { readonly due: readonly Endpoint[]; readonly atMs: number } | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: DeliveryDeps, { kinds }: DeliverySettings) {
    this.#kinds = kinds;
    const metrics = deliveryMetrics(deps.metrics, {
      underWay: () => this.#slots.underWay,
      depth: () => this.#measured?.depth,
      lateSeconds: () => (this.#measured === undefined ? undefined : this.#measured.lateMs / 1_000),
    });
    this.#deps = { ...deps, metrics, settlements: shareSettlements(deps.pool) };
    deps.signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  async run(): Promise<void> {
    await Promise.all([this.#work(), this.#measure()]);
    await Promise.all(this.#underWay);
  }

  async #work(): Promise<void> {
    const { log, metrics, signal } = this.#deps;
    const report = { log, event: "delivery.queue-failed" };
    const backoff = new Backoff({ ...BACKOFF, signal, report });
    while (!signal.aborted) {
      try {
        const startedAtMs = performance.now();
        const taken = this.#slots.free === 0 ? 0 : await this.#sendDue();
        const tookMs = performance.now() - startedAtMs;
        backoff.reset();
        if (taken > 0) this.#idlePause.worked();
        else await this.#idle(Math.max(this.#idlePause.pauseMs(), Math.min(tookMs, IDLE_MS_MAX)));
      } catch (error) {
        metrics.faults.add();
        await this.#idle(backoff.failed(error));
      }
    }
  }

  /** Leases as many due rows as there are slots, and begins to send them. Returns the number of rows. */
  async #sendDue(): Promise<number> {
    const { pool } = this.#deps;
    const lease = { fromMs: performance.now(), ms: LEASE_MS };
    const listed =
      this.#listed !== undefined && lease.fromMs - this.#listed.atMs < LIST_MS
        ? this.#listed
        : { due: await listDueEndpoints(pool), atMs: lease.fromMs };
    this.#listed = undefined;
    const grants = this.#slots.grant(listed.due, {
      rowsMax: ROWS_PER_LEASE,
      nowMs: performance.now(),
    });
    if (grants.length === 0) return 0;
    const token = randomUUID();
    const leased = await leaseDueDeliveries(pool, { token, leaseMs: lease.ms, grants });
    // If each endpoint had as many rows as it was granted, the list is still good for another round.
    if (leased.length === grants.reduce((sum, { rows }) => sum + rows, 0)) this.#listed = listed;
    await this.#beginAll(leased, lease);
    return leased.length;
  }

  async #beginAll(leased: readonly LeasedDelivery[], lease: Lease): Promise<void> {
    const waiting = new Set(leased);
    try {
      for (const kind of this.#kinds) {
        const ofKind = leased.filter((delivery) => delivery.kind === kind.name);
        if (ofKind.length === 0) continue;
        const prepared = await kind.prepare(this.#deps.pool, ofKind);
        for (const delivery of ofKind) {
          waiting.delete(delivery);
          this.#begin(delivery, { kind, prepared: prepared.get(delivery.id) ?? GONE, lease });
        }
      }
    } catch (error) {
      await giveBack(this.#deps, [...waiting]);
      throw error;
    }
  }

  #begin(
    delivery: LeasedDelivery,
    how: { kind: DeliveryKind; prepared: Prepared; lease: Lease },
  ): void {
    const slot = this.#slots.take(delivery, performance.now());
    const work = deliver(this.#deps, delivery, how).then((isInTime) => {
      if (this.#slots.release(slot, { isInTime })) this.#wake();
      this.#underWay.delete(work);
    });
    this.#underWay.add(work);
  }

  async #measure(): Promise<void> {
    const { pool, log, signal } = this.#deps;
    while (!signal.aborted) {
      try {
        this.#measured = await measureQueue(pool);
      } catch (error) {
        this.#measured = undefined;
        log.debug({ err: error }, "delivery.queue-not-measured");
      }
      await pause(MEASURE_MS, signal);
    }
  }

  /** Ends early when a slot becomes free for a due delivery, and when the worker stops. */
  async #idle(ms: number): Promise<void> {
    if (this.#deps.signal.aborted) return;
    // One for each round: Node keeps every signal of `AbortSignal.any` as long as the process's signal.
    const early = new AbortController();
    this.#wake = () => early.abort();
    await pause(ms, early.signal);
    this.#wake = () => undefined;
  }
}
