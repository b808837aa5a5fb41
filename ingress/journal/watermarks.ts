import { type Watermark, Watermarks } from "../../schemas/events/click-batch.ts";
import type { Nats } from "../../schemas/nats/connect.ts";

/** What the writer of a lane has stored of one producer and epoch. */
export type Passed = {
  readonly next: number;
  readonly missing: readonly (readonly [from: number, to: number])[];
  /** Monotonic ms when the writer last published a watermark. */
  readonly reportedAtMs: number;
};

/** A sequence of positions. `nonce` identifies its start; undefined for a start of an earlier release. */
export type Sequence = {
  readonly producer: number;
  readonly epoch: number;
  readonly lane: number;
  readonly nonce: string | undefined;
};

/** Ten messages of a writer at their longest. */
const SEQUENCES_MAX = 100_000;

/** The newest watermark of every lane's writer for every producer that this process ships for. */
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
      // Inserted again at the end: the entry without news for the longest time is dropped first.
      this.#passed.delete(key);
      this.#passed.set(key, { next, missing, nonce, reportedAtMs: nowMs });
    }
    for (const key of this.#passed.keys()) {
      if (this.#passed.size <= SEQUENCES_MAX) return;
      this.#passed.delete(key);
    }
  }

  /** Undefined without a watermark of this sequence. A watermark with the same numbers and another nonce does not count. */
  of(sequence: Sequence): Passed | undefined {
    const passed = this.#passed.get(keyOf(sequence));
    return passed === undefined || isForeign(passed, sequence) ? undefined : passed;
  }

  /** Whether the writer refuses the sequence because another start used this producer number and epoch first. */
  isRefused(sequence: Sequence): boolean {
    const passed = this.#passed.get(keyOf(sequence));
    return passed !== undefined && isForeign(passed, sequence);
  }

  /** Whether the writer has everything of the sequence in [first, next). */
  hasPassed(sequence: Sequence & { readonly first: number; readonly next: number }): boolean {
    const passed = this.of(sequence);
    if (passed === undefined || passed.next < sequence.next) return false;
    return !passed.missing.some(([from, to]) => from < sequence.next && to > sequence.first);
  }
}

/** A writer of a release without nonces accepts every sequence. */
function isForeign(known: { readonly nonce: string | undefined }, { nonce }: Sequence): boolean {
  return known.nonce !== undefined && nonce !== undefined && known.nonce !== nonce;
}

function keyOf({ producer, epoch, lane }: Omit<Sequence, "nonce">): string {
  return `${producer}.${epoch}.${lane}`;
}
