import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { NatsLink } from "../nats-link.ts";
import { messageAgain, publishUntilStored } from "./publish-batch.ts";
import { type Range, reshipRanges } from "./reship.ts";
import {
  type EndedSegment,
  endedSegmentPaths,
  indexSegment,
  removeSegment,
} from "./segment-files.ts";
import type { ShipperEvents } from "./shipper.ts";
import type { WatermarkBook } from "./watermarks.ts";

const TICK_MS = 500;
/** Writers tell their watermarks every second: what they have need not be shipped. */
const FIRST_WORD_MS = 2_500;
/** Shipped and not passed for this long: once more. */
const AGAIN_MS = 10_000;

export type LeftoversOptions = {
  readonly folder: string;
  readonly producer: number;
  /** Epochs before this one have ended. */
  readonly epoch: number;
  readonly link: NatsLink;
  readonly book: WatermarkBook;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly events: ShipperEvents;
};

/**
 * Brings home what ended epochs of a producer left in its folder: ships it, and removes a segment when the writers have all of
 * it. Answers whether nothing is left: the signal may end the work. Damaged frames are reported and never stop it (P7).
 */
export async function shipLeftovers(options: LeftoversOptions): Promise<boolean> {
  const { folder, epoch, log, events, signal } = options;
  const segments: EndedSegment[] = [];
  for (const { path, epoch: of } of await endedSegmentPaths(folder, epoch)) {
    const segment = await indexSegment(path, of);
    if (segment.damagedBytes > 0) {
      log.error({ path, bytes: segment.damagedBytes }, "journal.damaged");
    }
    segments.push(segment);
  }
  if (segments.length === 0) return true;
  log.info({ producer: options.producer, segments: segments.length }, "journal.leftovers-found");
  await untilHeard(options, segments);
  let left = segments;
  let shippedAtMs = Number.NEGATIVE_INFINITY;
  while (left.length > 0 && !signal.aborted) {
    if (performance.now() - shippedAtMs > AGAIN_MS) {
      const lost = await shipUnpassed(options, left);
      if (lost > 0) events.lost(lost);
      shippedAtMs = performance.now();
    }
    left = await removePassed(options, left);
    if (left.length > 0) await pause(TICK_MS, signal);
  }
  if (left.length > 0) return false;
  log.info({ producer: options.producer }, "journal.leftovers-shipped");
  return true;
}

/** What no writer has told to have, of every segment and lane. */
async function shipUnpassed(
  { producer, link, book, signal, events }: LeftoversOptions,
  segments: readonly EndedSegment[],
): Promise<number> {
  const all = segments.flatMap((segment) => unpassedRanges(segment, producer, book));
  const ranges = [...new Map(all.map((range) => [JSON.stringify(range), range])).values()];
  try {
    return await reshipRanges({
      producer,
      ranges,
      segments,
      publish: (batch) =>
        publishUntilStored(link, messageAgain(batch), {
          signal,
          onRetry: (error) => events.retried(error),
        }),
    });
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  }
}

function unpassedRanges(
  { epoch, lanes }: EndedSegment,
  producer: number,
  book: WatermarkBook,
): Range[] {
  return [...lanes].flatMap(([lane, { first, next }]) => {
    const passed = book.of(producer, epoch, lane);
    // Also what no segment here holds: frames may be damaged, and then it has to be declared lost.
    const missing = passed?.missing ?? [];
    const from = Math.max(first, passed?.next ?? 0);
    return [
      ...missing.map((range) => ({ epoch, lane, from: range[0], to: range[1] })),
      ...(from < next ? [{ epoch, lane, from, to: next }] : []),
    ];
  });
}

async function removePassed(
  { producer, book }: LeftoversOptions,
  segments: readonly EndedSegment[],
): Promise<EndedSegment[]> {
  const left: EndedSegment[] = [];
  for (const segment of segments) {
    const { epoch } = segment;
    const isPassed = [...segment.lanes].every(([lane, { first, next }]) =>
      isSettled(book, { producer, epoch, lane, first, next }),
    );
    if (isPassed) await removeSegment(segment.path);
    else left.push(segment);
  }
  return left;
}

/** Everything of the lane has passed and nothing of its epoch is missed: what was lost has been declared. */
function isSettled(book: WatermarkBook, place: Parameters<WatermarkBook["hasPassed"]>[0]): boolean {
  const passed = book.of(place.producer, place.epoch, place.lane);
  return book.hasPassed(place) && passed?.missing.length === 0;
}

async function untilHeard(
  { link, book, producer, signal }: LeftoversOptions,
  segments: readonly EndedSegment[],
): Promise<void> {
  const isHeard = (): boolean =>
    segments.every(({ epoch, lanes }) =>
      [...lanes.keys()].every((lane) => book.of(producer, epoch, lane) !== undefined),
    );
  let waitedMs = 0;
  while (!signal.aborted && !isHeard() && waitedMs < FIRST_WORD_MS) {
    await pause(TICK_MS, signal);
    // Without a connection nobody can be heard: the wait begins when there is one.
    if (link.current() !== undefined) waitedMs += TICK_MS;
  }
}
