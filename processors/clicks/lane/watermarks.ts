import type { Watermark } from "../../../schemas/events/click-batch.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Producer } from "../intake/producers.ts";

const MISSING_MAX = 100;
/** About 100 bytes each, so a message stays far below the server's limit of 1 MiB. */
const WATERMARKS_PER_MESSAGE = 1_000;
/** Limit for one message round. With more producers than this, the last ones get a watermark only when one of their batches is stored. */
const WATERMARKS_MAX = 10_000;

/** The settled positions of a producer. `next` is never after a gap that is not listed. */
export function watermarkOf(lane: number, producer: Producer): Watermark {
  const { holes, next } = producer.settled;
  const unlisted = holes[MISSING_MAX];
  return {
    lane,
    producer: producer.producer,
    epoch: producer.epoch,
    next: unlisted === undefined ? next : unlisted[0],
    missing: holes.slice(0, MISSING_MAX).map(([from, to]) => [from, to]),
    nonce: producer.nonce,
  };
}

/** Never throws: watermarks are repeated every second. */
export function publishWatermarks(nats: Nats, lane: number, producers: Iterable<Producer>): void {
  if (nats.connection.isClosed()) return;
  const all: Watermark[] = [];
  for (const producer of producers) {
    if (all.length === WATERMARKS_MAX) break;
    all.push(watermarkOf(lane, producer));
  }
  for (let from = 0; from < all.length; from += WATERMARKS_PER_MESSAGE) {
    const page = all.slice(from, from + WATERMARKS_PER_MESSAGE);
    nats.connection.publish(nats.subjects.watermark, JSON.stringify(page));
  }
}
