import { CODE } from "../code-limits.ts";
import type { EventQueue } from "./event-queue.ts";
import { Fifo } from "./thread.ts";

/** Records of one lane and worker. The rows count with the age of the oldest, as in the writer's metrics. */
export type Message = { readonly rows: number; readonly oldestAtMs: number };

type Group = { rows: number; readonly atMs: number };

/**
 * One worker's records of one lane, as ingress/journal/ship-lane.ts ships them: one message at a time, when it is full or has its age,
 * and the next one only after the acknowledgement.
 */
export class LaneShipper {
  readonly #events: EventQueue;
  readonly #recordsMax: number;
  /** Calls back when the message is acknowledged. */
  readonly #publish: (message: Message, acknowledged: () => void) => void;
  readonly #groups = new Fifo<Group>();
  #rows = 0;
  #state: "idle" | "ageing" | "publishing" = "idle";
  #turn = 0;
  #rowsPerSecond = 0;
  #reportedAtMs = 0;

  constructor(
    events: EventQueue,
    recordsMax: number,
    publish: (message: Message, acknowledged: () => void) => void,
  ) {
    this.#events = events;
    this.#recordsMax = recordsMax;
    this.#publish = publish;
  }

  take(rows: number, atMs: number): void {
    this.#groups.push({ rows, atMs });
    this.#rows += rows;
    if (this.#state === "idle") this.#age();
    else if (this.#state === "ageing" && this.#isFull) this.#ship();
  }

  get #isFull(): boolean {
    return this.#rows >= this.#recordsMax;
  }

  #age(): void {
    if (this.#isFull) {
      this.#ship();
      return;
    }
    this.#state = "ageing";
    this.#turn += 1;
    const turn = this.#turn;
    const isBusy = this.#rowsPerSecond >= CODE.busyRecordsPerSecond;
    this.#events.after(isBusy ? CODE.busyMessageAgeMs : CODE.messageAgeMs, () => {
      if (turn === this.#turn && this.#state === "ageing") this.#ship();
    });
  }

  #ship(): void {
    this.#state = "publishing";
    const message = this.#cut();
    this.#publish(message, () => {
      const nowMs = this.#events.nowMs;
      this.#rowsPerSecond = (message.rows * 1_000) / (nowMs - this.#reportedAtMs);
      this.#reportedAtMs = nowMs;
      if (this.#rows > 0) this.#age();
      else this.#state = "idle";
    });
  }

  #cut(): Message {
    const oldestAtMs = this.#groups.peek()?.atMs ?? this.#events.nowMs;
    let rows = 0;
    for (;;) {
      const group = this.#groups.peek();
      if (group === undefined) break;
      const taken = Math.min(group.rows, this.#recordsMax - rows);
      rows += taken;
      group.rows -= taken;
      if (group.rows > 0) break;
      this.#groups.shift();
    }
    this.#rows -= rows;
    return { rows, oldestAtMs };
  }
}
