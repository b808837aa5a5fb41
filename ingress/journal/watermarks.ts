import { type Watermark, Watermarks } from "../../schemas/events/click-batch.ts";
import type { Nats } from "../../schemas/nats/connect.ts";

/** What the writer of a lane has stored of one producer and epoch. */
export type Passed = {
  readonly next: number;
  readonly missing: readonly (readonly [from: number, to: number])[];
  /** Monotonic ms at which `next` last rose, and at which the writer last spoke. */
  readonly progressAtMs: number;
  readonly heardAtMs: number;
};

/** Ten messages of a writer at their longest. */
const PLACES_MAX = 100_000;

/** The newest word of every lane's writer about every producer that this process ships for. */
export class WatermarkBook {
  readonly #passed = new Map<string, Passed>();
  readonly #onFault: (error: unknown) => void;

  /** `onFault`: a message of a writer could not be read. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  follow(nats: Nats): void {
    nats.connection.subscribe(nats.subjects.watermark, {
      callback: (error, message) => {
        if (error !== null) {
          this.#onFault(error);
          return;
        }
        try {
          this.take(Watermarks.parse(message.json()));
        } catch (fault) {
          this.#onFault(fault);
        }
      },
    });
  }

  take(marks: readonly Watermark[]): void {
    const nowMs = performance.now();
    for (const { lane, producer, epoch, next, missing } of marks) {
      const key = keyOf(producer, epoch, lane);
      const known = this.#passed.get(key);
      // Put in again at the end: what nobody has spoken of for longest goes first.
      this.#passed.delete(key);
      this.#passed.set(key, {
        next,
        missing,
        progressAtMs: known !== undefined && known.next === next ? known.progressAtMs : nowMs,
        heardAtMs: nowMs,
      });
    }
    for (const key of this.#passed.keys()) {
      if (this.#passed.size <= PLACES_MAX) return;
      this.#passed.delete(key);
    }
  }

  of(producer: number, epoch: number, lane: number): Passed | undefined {
    return this.#passed.get(keyOf(producer, epoch, lane));
  }

  /** Whether the writer has everything of the lane in [first, next). */
  hasPassed(place: {
    producer: number;
    epoch: number;
    lane: number;
    first: number;
    next: number;
  }): boolean {
    const passed = this.of(place.producer, place.epoch, place.lane);
    if (passed === undefined || passed.next < place.next) return false;
    return !passed.missing.some(([from, to]) => from < place.next && to > place.first);
  }
}

function keyOf(producer: number, epoch: number, lane: number): string {
  return `${producer}.${epoch}.${lane}`;
}
