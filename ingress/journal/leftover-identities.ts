import type { Log } from "../../schemas/host/log.ts";
import type { JournalRun } from "./journal-run.ts";
import type { MovedEpochs } from "./moved-epochs.ts";
import type { Range, ShippedAs } from "./reship.ts";
import type { EndedSegment } from "./segment-files.ts";
import type { RunningEpoch } from "./shipper.ts";
import type { WatermarkBook } from "./watermarks.ts";

type EpochLane = Pick<Range, "epoch" | "lane">;

/**
 * The producer numbers under which the records of a folder are shipped: its own number, or, in lanes whose writer has assigned an epoch to
 * another process, a number allocated for that epoch.
 */
export class LeftoverIdentities {
  readonly #producer: number;
  readonly #book: WatermarkBook;
  readonly #log: Log;
  readonly #nonces: ReadonlyMap<number, string>;
  readonly #moved: MovedEpochs;

  constructor(options: {
    readonly producer: number;
    readonly book: WatermarkBook;
    readonly log: Log;
    readonly runs: readonly JournalRun[];
    readonly moved: MovedEpochs;
  }) {
    this.#producer = options.producer;
    this.#book = options.book;
    this.#log = options.log;
    this.#nonces = new Map(options.runs.map(({ epoch, nonce }) => [epoch, nonce]));
    this.#moved = options.moved;
  }

  of(sequence: EpochLane): ShippedAs {
    const nonce = this.#nonces.get(sequence.epoch);
    const moved = this.isRefused(sequence) ? this.#moved.producerOf(sequence.epoch) : undefined;
    return { producer: moved ?? this.#producer, nonce };
  }

  headOf(sequence: EpochLane): { producer: number; nonce?: string } {
    const { producer, nonce } = this.of(sequence);
    return nonce === undefined ? { producer } : { producer, nonce };
  }

  /** Whether the writer refuses the records under the folder's own number. */
  isRefused({ epoch, lane }: EpochLane): boolean {
    const nonce = this.#nonces.get(epoch);
    return this.#book.isRefused({ producer: this.#producer, epoch, lane, nonce });
  }

  /** Whether the records are refused and have no other number yet. They must not be shipped. */
  isWaiting(sequence: EpochLane): boolean {
    return this.isRefused(sequence) && this.#moved.producerOf(sequence.epoch) === undefined;
  }

  /** Gets numbers for refused epochs. An epoch without one waits for the next call. */
  async moveRefused(
    segments: readonly EndedSegment[],
    allocate: (claim: string) => Promise<number>,
  ): Promise<void> {
    for (const { epoch, lanes } of segments) {
      if (![...lanes.keys()].some((lane) => this.isWaiting({ epoch, lane }))) continue;
      const context = { producer: this.#producer, epoch };
      try {
        const movedTo = await this.#moved.move(epoch, allocate);
        this.#log.error({ ...context, movedTo }, "journal.epoch-moved");
      } catch (error) {
        this.#log.warn({ err: error, ...context }, "journal.epoch-not-moved-yet");
        return;
      }
    }
  }

  /** The moved epochs, under the numbers that the writers know. */
  get movedRuns(): RunningEpoch[] {
    return [...this.#moved.all].flatMap(([epoch, producer]) => {
      const nonce = this.#nonces.get(epoch);
      return nonce === undefined ? [] : [{ producer, epoch, nonce }];
    });
  }
}
