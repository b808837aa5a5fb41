import { ApiError } from "../../operation/errors.ts";

/** The holder of a slot. `keyId` of a person is the negative id of the person. */
export type SlotHolder = { readonly keyId: number; readonly workspaceId: number };

export type SlotLimits = {
  readonly perKey: number;
  readonly perWorkspace: number;
  /** In this process; equal to its number of connections to ClickHouse. */
  readonly total: number;
  readonly waitMs: number;
  /** Waiting requests of one key. */
  readonly waitingPerKey: number;
  /** Waiting requests of this process. */
  readonly waitingTotal: number;
};

type Waiting = { readonly holder: SlotHolder; readonly serve: () => void };

const RETRY_AFTER_SEC = 2;

/**
 * Slots for operations that read ClickHouse (G205). Each operation runs one statement at a time, so a holder of a slot never waits
 * for a connection. Invariant: no request waits that could be served. Waiting requests are served in turn by workspace, oldest
 * first within one.
 */
export class ReportSlots {
  readonly #limits: SlotLimits;
  readonly #byKey = new Map<number, number>();
  readonly #byWorkspace = new Map<number, number>();
  /** Workspaces in the order of their turns. */
  readonly #queues = new Map<number, Waiting[]>();
  readonly #waitingByKey = new Map<number, number>();
  #underWay = 0;
  #waiting = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves to the function that releases the slot; calling it again does nothing. Rejects with the reason of `left` if that is
   * aborted first.
   * @throws {ApiError} `rate_limited` if the key or its workspace has used all its slots for `waitMs`, `unavailable` if others hold
   *   all slots of the process.
   */
  async take(holder: SlotHolder, left: AbortSignal): Promise<() => void> {
    left.throwIfAborted();
    if (!this.#hasRoom(holder)) await this.#wait(holder, left);
    else this.#enter(holder);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#leave(holder);
    };
  }

  #wait(holder: SlotHolder, left: AbortSignal): Promise<void> {
    const { waitMs, waitingPerKey, waitingTotal } = this.#limits;
    const isKeyFull = of(this.#waitingByKey, holder.keyId) >= waitingPerKey;
    if (isKeyFull || this.#waiting >= waitingTotal)
      return Promise.reject(slotRefusal(this.#limits, isKeyFull || this.#isOwnLimit(holder)));
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        left.removeEventListener("abort", onLeft);
        this.#dequeue(waiting);
      };
      const onLeft = (): void => {
        stop();
        reject(left.reason instanceof Error ? left.reason : new Error(String(left.reason)));
      };
      const waiting: Waiting = {
        holder,
        serve: () => {
          stop();
          this.#enter(holder);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        stop();
        reject(slotRefusal(this.#limits, this.#isOwnLimit(holder)));
      }, waitMs);
      left.addEventListener("abort", onLeft, { once: true });
      this.#enqueue(waiting);
    });
  }

  #enqueue(waiting: Waiting): void {
    const { workspaceId, keyId } = waiting.holder;
    const queue = this.#queues.get(workspaceId);
    if (queue === undefined) this.#queues.set(workspaceId, [waiting]);
    else queue.push(waiting);
    add(this.#waitingByKey, keyId, 1);
    this.#waiting += 1;
  }

  #dequeue(waiting: Waiting): void {
    const { workspaceId, keyId } = waiting.holder;
    const queue = this.#queues.get(workspaceId) ?? [];
    queue.splice(queue.indexOf(waiting), 1);
    if (queue.length === 0) this.#queues.delete(workspaceId);
    add(this.#waitingByKey, keyId, -1);
    this.#waiting -= 1;
  }

  #enter({ keyId, workspaceId }: SlotHolder): void {
    add(this.#byKey, keyId, 1);
    add(this.#byWorkspace, workspaceId, 1);
    this.#underWay += 1;
  }

  #leave({ keyId, workspaceId }: SlotHolder): void {
    add(this.#byKey, keyId, -1);
    add(this.#byWorkspace, workspaceId, -1);
    this.#underWay -= 1;
    this.#serveNext();
  }

  /** One slot was released, so at most one more request can be served. */
  #serveNext(): void {
    for (const [workspaceId, queue] of this.#queues) {
      const next = queue.find(({ holder }) => this.#hasRoom(holder));
      if (next === undefined) continue;
      next.serve();
      const rest = this.#queues.get(workspaceId);
      if (rest === undefined) return;
      // Moves the workspace to the end of the turns.
      this.#queues.delete(workspaceId);
      this.#queues.set(workspaceId, rest);
      return;
    }
  }

  #hasRoom(holder: SlotHolder): boolean {
    return this.#underWay < this.#limits.total && !this.#isOwnLimit(holder);
  }

  #isOwnLimit({ keyId, workspaceId }: SlotHolder): boolean {
    const { perKey, perWorkspace } = this.#limits;
    return of(this.#byKey, keyId) >= perKey || of(this.#byWorkspace, workspaceId) >= perWorkspace;
  }
}

export function slotRefusal({ perKey, perWorkspace }: SlotLimits, isOwnLimit: boolean): ApiError {
  const headers = { "retry-after": String(RETRY_AFTER_SEC) };
  return isOwnLimit
    ? new ApiError(
        "rate_limited",
        `a key may have ${perKey} reports under way and a workspace ${perWorkspace}; try again in ${RETRY_AFTER_SEC} seconds`,
        { headers },
      )
    : new ApiError("unavailable", "too many reports are under way at the moment", { headers });
}

function of(counts: ReadonlyMap<number, number>, id: number): number {
  return counts.get(id) ?? 0;
}

/** Deletes zeros, so the map stays as small as the number of running operations. */
function add(counts: Map<number, number>, id: number, change: 1 | -1): void {
  const count = of(counts, id) + change;
  if (count === 0) counts.delete(id);
  else counts.set(id, count);
}
