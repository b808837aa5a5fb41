import type { Batch, Segment } from "../rows/batch.ts";
import { type Intent, isPartOf } from "../rows/intent.ts";
import type { Range } from "../rows/position-set.ts";
import type { Producer, Producers } from "./producers.ts";

/**
 * The insert of a lane whose outcome is unknown, if there is one. While `intent` is set, every segment that is read is part of the insert or
 * has no row of it: the insert is stored entirely or not at all, and so is each segment.
 */
export class UndecidedInsert {
  #intent: Intent | undefined;
  /** Positions at which a segment must end, by `<producer>.<epoch>`. */
  #cuts: ReadonlyMap<string, ReadonlySet<number>> | undefined;

  get intent(): Intent | undefined {
    return this.#intent;
  }

  set intent(intent: Intent | undefined) {
    this.#intent = intent;
    this.#cuts = intent === undefined ? undefined : cutsOf(intent);
  }

  /** Whether every position of the insert was read. */
  isRead(producers: Producers): boolean {
    return (this.#intent?.ranges ?? []).every(([producer, epoch, from, to]) => {
      const { accepted } = producers.get(producer, epoch);
      return accepted.sizeBelow(to) - accepted.sizeBelow(from) === to - from;
    });
  }

  /** The rows of the insert that are in these batches. */
  segmentsIn(batches: readonly Batch[]): Segment[] {
    const intent = this.#intent;
    if (intent === undefined) return [];
    const segments = batches.flatMap((batch) => batch.segments);
    return segments.filter((segment) => !segment.isStored && isPartOf(intent, segment));
  }

  /** Cuts the range into pieces: each is part of the insert or has nothing of it. */
  cut({ producer, epoch }: Producer, [from, to]: Range): Range[] {
    const cuts = this.#cuts?.get(`${producer}.${epoch}`);
    if (cuts === undefined) return [[from, to]];
    const ends = [...cuts].filter((cut) => from < cut && cut < to).sort((a, b) => a - b);
    return [from, ...ends].map((start, index): Range => [start, ends[index] ?? to]);
  }
}

function cutsOf({ ranges }: Intent): Map<string, Set<number>> {
  const cuts = new Map<string, Set<number>>();
  for (const [producer, epoch, from, to] of ranges) {
    const key = `${producer}.${epoch}`;
    cuts.set(key, (cuts.get(key) ?? new Set<number>()).add(from).add(to));
  }
  return cuts;
}
