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

/** A sequence of positions. `nonce` is that of the start which made it; undefined for one of an earlier release. */
export type Sequence = {
  readonly producer: number;
  readonly epoch: number;
  readonly lane: number;
  readonly nonce: string | undefined;
};

/** Ten messages of a writer at their longest. */
const PLACES_MAX = 100_000;

/** The newest word of every lane's writer about every producer that this process ships for. */
export class WatermarkBook {
  readonly #passed = new Map<string, Passed & { readonly nonce: string | undefined }>();
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
    for (const { lane, producer, epoch, next, missing, nonce } of marks) {
      const key = keyOf({ producer, epoch, lane });
      const known = this.#passed.get(key);
      // Put in again at the end: what nobody has spoken of for longest goes first.
      this.#passed.delete(key);
      this.#passed.set(key, {
        next,
        missing,
        nonce,
        progressAtMs: known !== undefined && known.next === next ? known.progressAtMs : nowMs,
        heardAtMs: nowMs,
      });
    }
    for (const key of this.#passed.keys()) {
      if (this.#passed.size <= PLACES_MAX) return;
      this.#passed.delete(key);
    }
  }

  /** Undefined while nothing was heard of this sequence: what is heard of another with its numbers says nothing about it. */
  of(sequence: Sequence): Passed | undefined {
    const passed = this.#passed.get(keyOf(sequence));
    return passed === undefined || isForeign(passed, sequence) ? undefined : passed;
  }

  /** Whether the writer refuses the sequence, because another start came first with this producer number and epoch. */
  isRefused(sequence: Sequence): boolean {
    const passed = this.#passed.get(keyOf(sequence));
    return passed !== undefined && isForeign(passed, sequence);
  }

  /** Whether the writer has everything of the sequence in [first, next). */
  hasPassed(place: Sequence & { readonly first: number; readonly next: number }): boolean {
    const passed = this.of(place);
    if (passed === undefined || passed.next < place.next) return false;
    return !passed.missing.some(([from, to]) => from < place.next && to > place.first);
  }
}

/** A writer of a release without nonces takes whatever comes. */
function isForeign(known: { readonly nonce: string | undefined }, { nonce }: Sequence): boolean {
  return known.nonce !== undefined && nonce !== undefined && known.nonce !== nonce;
}

function keyOf({ producer, epoch, lane }: Omit<Sequence, "nonce">): string {
  return `${producer}.${epoch}.${lane}`;
}
