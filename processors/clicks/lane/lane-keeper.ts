import type { Lanes } from "../../../schemas/events/lanes.ts";
import { Backoff } from "../../../schemas/host/backoff.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { BACKOFF } from "./backoff.ts";
import {
  countWriters,
  ensureLanes,
  forgetWriter,
  freeOwnLanes,
  LaneLease,
  renewLeases,
  takeLanes,
} from "./lane-lease.ts";
import { WakeSignal } from "./wake-signal.ts";

/** Works on a lane while its lease is held. */
export type LaneWorker = {
  readonly ended: Promise<void>;
  close(): Promise<void>;
  abandon(): Promise<void>;
};

export type LaneKeeperOptions = {
  readonly pool: Pool;
  readonly log: Log;
  /** Lanes that exist now. Their number may grow. */
  readonly lanes: () => Lanes;
  /** A name that only one process has at a time. A process immediately takes over the lanes of an earlier process with its name. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly startWorker: (lease: LaneLease) => LaneWorker;
};

type Held<Worker> = { readonly lease: LaneLease; readonly worker: Worker };

const RENEWALS_PER_LEASE = 5;
const CHECKS_PER_LEASE = 20;

/**
 * Holds this process's fair share of the lanes, by the number of live writers. Invariant: a worker runs only while its lease has time
 * left, by a clock that never steps.
 */
export class LaneKeeper {
  readonly #options: LaneKeeperOptions;
  readonly #held = new Map<number, Held<LaneWorker>>();
  readonly #wakeUp = new WakeSignal();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #isReady = false;
  #lanesMade = 0;
  #done: Promise<void> | undefined;

  constructor(options: LaneKeeperOptions) {
    this.#options = options;
    const report = { log: options.log, event: "clicks.leases-wait" };
    this.#backoff = new Backoff({ ...BACKOFF, signal: this.#closing.signal, report });
  }

  run(): void {
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wakeUp.wake();
    await this.#done;
    await Promise.all([...this.#held.values()].map(async (held) => await this.#giveBack(held)));
    try {
      await forgetWriter(this.#options.pool, this.#options.owner);
    } catch (error) {
      // The other writers drop it when its registration expires.
      this.#options.log.warn({ err: error }, "clicks.writer-not-forgotten");
    }
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#tick();
        this.#backoff.reset();
      } catch (error) {
        this.#dropExpired();
        if (!this.#closing.signal.aborted) await this.#backoff.pause(error);
        continue;
      }
      await this.#wakeUp.wait(this.#options.leaseMs / CHECKS_PER_LEASE);
    }
  }

  async #tick(): Promise<void> {
    const { pool, owner, leaseMs } = this.#options;
    const lanes = this.#options.lanes();
    if (this.#lanesMade < lanes.count) await ensureLanes(pool, lanes);
    this.#lanesMade = lanes.count;
    if (!this.#isReady) await freeOwnLanes(pool, owner);
    this.#isReady = true;
    const nowMs = performance.now();
    if (nowMs - this.#renewedAtMs >= leaseMs / RENEWALS_PER_LEASE) {
      await this.#renew();
      this.#renewedAtMs = nowMs;
    }
    this.#dropExpired();
    const share = Math.ceil(lanes.all.length / (await countWriters(pool, owner, leaseMs)));
    const surplus = [...this.#held.values()].at(-1);
    if (this.#held.size > share && surplus !== undefined) await this.#giveBack(surplus);
    if (this.#held.size < share && !this.#closing.signal.aborted)
      await this.#take(share - this.#held.size);
  }

  async #renew(): Promise<void> {
    const { pool, owner, leaseMs } = this.#options;
    const leases = [...this.#held.values()]
      .map(({ lease }) => lease)
      .filter((lease) => !lease.isRaising);
    if (leases.length === 0) return;
    const askedAtMs = performance.now();
    const asked = leases.map((lease) => ({ lease, epoch: lease.epoch }));
    const renewed = await renewLeases(pool, owner, leases, leaseMs);
    for (const { lease, epoch } of asked) {
      if (renewed.has(lease.lane)) lease.renewed(epoch, askedAtMs);
      // A lease whose epoch was raised in the meantime is not lost.
      else if (lease.epoch === epoch && !lease.isRaising)
        this.#drop(lease.lane, "taken by another");
    }
  }

  async #take(limit: number): Promise<void> {
    const { pool, owner, lanes, leaseMs, log, startWorker } = this.#options;
    const askedAtMs = performance.now();
    const held = [...this.#held.keys()];
    for (const taken of await takeLanes(pool, owner, {
      held,
      lanes: lanes().all,
      limit,
      leaseMs,
    })) {
      const lease = new LaneLease({ db: pool, owner, leaseMs }, { ...taken, askedAtMs });
      log.info({ lane: taken.lane, epoch: taken.epoch }, "clicks.lane-taken");
      const worker = startWorker(lease);
      this.#held.set(taken.lane, { lease, worker });
      void worker.ended.then(() => {
        if (this.#held.get(taken.lane)?.worker === worker) this.#held.delete(taken.lane);
      });
    }
  }

  #dropExpired(): void {
    for (const { lease } of this.#held.values()) {
      if (lease.remainingMs <= 0) this.#drop(lease.lane, "not renewed in time");
    }
  }

  #drop(lane: number, reason: string): void {
    const held = this.#held.get(lane);
    if (held === undefined) return;
    this.#options.log.error({ lane, reason }, "clicks.lane-lost");
    this.#held.delete(lane);
    void held.worker.abandon();
  }

  async #giveBack({ lease, worker }: Held<LaneWorker>): Promise<void> {
    await worker.close();
    this.#held.delete(lease.lane);
    try {
      await lease.release();
      this.#options.log.info({ lane: lease.lane }, "clicks.lane-given-back");
    } catch (error) {
      // The next writer takes the lane when the lease ends.
      this.#options.log.warn({ err: error, lane: lease.lane }, "clicks.lane-not-released");
    }
  }
}
