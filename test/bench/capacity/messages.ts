import { ingressWorkers, laneShares } from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";

/** How ingress workers cut the records of a lane into messages. */
export type Shipping = {
  readonly messagesPerSecond: number;
  readonly recordsPerMessage: number;
};

/** Terms of a sum over a Poisson distribution whose mean is at most some dozens. */
const TERMS_MAX = 400;

/** Records of one message at most: by number, or by bytes. */
export function messageRecordsMax({ recordBytes }: Pick<Inputs, "recordBytes">): number {
  return Math.min(CODE.messageRecordsMax, Math.floor(CODE.messageBytesMax / recordBytes));
}

/** Milliseconds that one message keeps the stream busy. Bench stream. */
function streamServiceMs(records: number, inputs: Inputs): number {
  return inputs.streamMessageMs + (records * inputs.recordBytes * inputs.streamMegabyteMs) / 1e6;
}

/** Milliseconds from a publish to its acknowledgement: there, a synced write in an idle stream, and back. Bench stream. */
function acknowledgementMs(records: number, inputs: Inputs): number {
  return 2 * inputs.networkMs + streamServiceMs(records, inputs);
}

/**
 * Messages of one worker in one lane with this many records a second. The worker ships one message at a time: it waits for a record,
 * then for the age of a batch, then for the acknowledgement. After a message that was cut at the rate of a busy lane the next one gets
 * the longer age, so a lane near that rate alternates between both.
 */
export function laneShipping(recordsPerSecond: number, inputs: Inputs): Shipping {
  const perMs = recordsPerSecond / 1_000;
  const ackMs = acknowledgementMs(1, inputs);
  // Records that arrive during the acknowledgement start the next message; without one it waits for the first record.
  const shortMs = Math.exp(-perMs * ackMs) / perMs + CODE.messageAgeMs + ackMs;
  const longMs = CODE.busyMessageAgeMs + ackMs;
  const toLong = busyAfterShort(perMs, ackMs);
  const toShort = 1 - poissonAtLeast(perMs * longMs, (CODE.busyRecordsPerSecond / 1_000) * longMs);
  const isLong = toLong + toShort === 0 ? 0 : toLong / (toLong + toShort);
  const cycleMs = isLong * longMs + (1 - isLong) * shortMs;
  const recordsPerMessage = Math.min(messageRecordsMax(inputs), Math.max(1, perMs * cycleMs));
  return { recordsPerMessage, messagesPerSecond: recordsPerSecond / recordsPerMessage };
}

/** Messages of all workers and lanes; the clicks are spread evenly over workers, not over lanes. */
export function allShipping(peak: number, lanes: number, inputs: Inputs): Shipping {
  const workers = ingressWorkers(peak, inputs);
  const messagesPerSecond = laneShares(inputs, lanes).reduce(
    (sum, share) =>
      sum + laneShipping((peak * share) / workers, inputs).messagesPerSecond * workers,
    0,
  );
  return { messagesPerSecond, recordsPerMessage: peak / messagesPerSecond };
}

/** Share of its time that each stream is busy. Lanes are spread over the streams. */
export function streamUtilisation(
  peak: number,
  { lanes, streams }: { readonly lanes: number; readonly streams: number },
  inputs: Inputs,
): number {
  const { messagesPerSecond, recordsPerMessage } = allShipping(peak, lanes, inputs);
  return (messagesPerSecond * streamServiceMs(recordsPerMessage, inputs)) / 1_000 / streams;
}

/** Probability that a message with the short age was cut at the rate of a busy lane. */
function busyAfterShort(perMs: number, ackMs: number): number {
  const busyPerMs = CODE.busyRecordsPerSecond / 1_000;
  const fixedMs = CODE.messageAgeMs + ackMs;
  const isWaiting = 1 - Math.exp(-perMs * ackMs);
  const afterWaiting =
    isWaiting === 0
      ? 0
      : (poissonAtLeast(perMs * fixedMs, Math.max(1, busyPerMs * fixedMs)) -
          Math.exp(-perMs * ackMs) *
            poissonAtLeast(perMs * CODE.messageAgeMs, busyPerMs * fixedMs)) /
        isWaiting;
  // Without a waiting record the first one arrives later: the more records follow it, the later it may have been.
  let afterIdle = 0;
  let term = Math.exp(-perMs * CODE.messageAgeMs);
  for (let more = 0; more < TERMS_MAX; more += 1) {
    const idleMs = (1 + more) / busyPerMs - fixedMs;
    if (idleMs > 0) afterIdle += term * (1 - Math.exp(-perMs * idleMs));
    term *= (perMs * CODE.messageAgeMs) / (more + 1);
  }
  return isWaiting * Math.min(1, Math.max(0, afterWaiting)) + (1 - isWaiting) * afterIdle;
}

/** Probability that a Poisson number with this mean is at least `least`. */
function poissonAtLeast(mean: number, least: number): number {
  // Far above or below, where the terms would be too many or too small.
  if (mean > TERMS_MAX / 2) return mean >= least ? 1 : 0;
  let below = 0;
  let term = Math.exp(-mean);
  for (let count = 0; count < Math.min(least, TERMS_MAX); count += 1) {
    below += term;
    term *= mean / (count + 1);
  }
  return Math.max(0, 1 - below);
}
