import type { Log } from "../../schemas/host/log.ts";
import type { JournalRun } from "./journal-run.ts";
import type { MovedEpochs } from "./moved-epochs.ts";
import type { Range, ShippedAs } from "./reship.ts";
import type { EndedSegment } from "./segment-files.ts";
import type { RunningEpoch } from "./shipper.ts";
import type { WatermarkBook } from "./watermarks.ts";

type Place = Pick<Range, "epoch" | "lane">;

/**
 * Under which producer numbers the records of a folder are shipped: its own, and one that was made for an epoch in the lanes
 * whose writer gives the epoch to another process.
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

  of(place: Place): ShippedAs {
    const nonce = this.#nonces.get(place.epoch);
    const moved = this.isRefused(place) ? this.#moved.producerOf(place.epoch) : undefined;
    return { producer: moved ?? this.#producer, nonce };
  }

  headOf(place: Place): { producer: number; nonce?: string } {
    const { producer, nonce } = this.of(place);
    return nonce === undefined ? { producer } : { producer, nonce };
  }

  /** Whether the writer refuses the records under the folder's own number. */
  isRefused({ epoch, lane }: Place): boolean {
    const nonce = this.#nonces.get(epoch);
    return this.#book.isRefused({ producer: this.#producer, epoch, lane, nonce });
  }

  /** Refused, and without another number yet: not to be shipped. */
  isWaiting(place: Place): boolean {
    return this.isRefused(place) && this.#moved.producerOf(place.epoch) === undefined;
  }

  /** Makes numbers for epochs that are refused; an epoch for which there is none yet waits. */
  async moveRefused(
    segments: readonly EndedSegment[],
    allocate: (claim: string) => Promise<number>,
  ): Promise<void> {
    for (const { epoch, lanes } of segments) {
      if (![...lanes.keys()].some((lane) => this.isWaiting({ epoch, lane }))) continue;
      const place = { producer: this.#producer, epoch };
      try {
        const movedTo = await this.#moved.move(epoch, allocate);
        this.#log.error({ ...place, movedTo }, "journal.epoch-moved");
      } catch (error) {
        this.#log.warn({ err: error, ...place }, "journal.epoch-not-moved-yet");
        return;
      }
    }
  }

  /** The epochs that were moved, as the writers know them. */
  get movedRuns(): RunningEpoch[] {
    return [...this.#moved.all].flatMap(([epoch, producer]) => {
      const nonce = this.#nonces.get(epoch);
      return nonce === undefined ? [] : [{ producer, epoch, nonce }];
    });
  }
}
