import { randomUUID } from "node:crypto";
import { type ClickBatch, encodeBatch } from "../../schemas/events/click-batch.ts";
import { ALL_LANES } from "../../schemas/events/shards.ts";
import { Backoff } from "../../schemas/host/backoff.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import type { NatsLink } from "../nats-link.ts";

const ACK_TIMEOUT_MS = 5_000;
const BACKOFF = { firstMs: 50, longestMs: 2_000 } as const;

/** A batch as it goes out. */
export type BatchMessage = {
  readonly lane: number;
  /** Undefined for a message that nothing is lost with, and so need not be told from its repeat. */
  readonly id: string | undefined;
  readonly bytes: Uint8Array;
};

export type PublishOptions = {
  readonly signal: AbortSignal;
  /** The message is sent once more, and why. */
  readonly onRetry: (error: unknown) => void;
};

/** Names a batch by what it holds, so that JetStream knows a repeat. */
export function batchId(batch: Omit<ClickBatch, "lines">, records: number): string {
  return `${batch.producer}.${batch.epoch}.${batch.lane}.${batch.first}-${records}`;
}

/** Says in every lane that nothing more comes of this epoch and those before it, for a process that can no longer say it. */
export async function sayEnded(
  link: NatsLink,
  { producer, epoch, nonce }: { producer: number; epoch: number; nonce: string },
  options: PublishOptions,
): Promise<void> {
  for (const lane of ALL_LANES) {
    const at = systemClock.nowMs();
    const word = { producer, epoch, nonce, lane, first: 0, at, endedBefore: epoch + 1, lines: [] };
    if (options.signal.aborted) return;
    await publishUntilStored(link, { lane, id: undefined, bytes: encodeBatch(word) }, options);
  }
}

/** A batch that was shipped before and that the writer misses: JetStream must not take it for a repeat. */
export function messageAgain(batch: ClickBatch): BatchMessage {
  const { lane, lines } = batch;
  return {
    lane,
    id: `${batchId(batch, lines.length)}.${randomUUID()}`,
    bytes: encodeBatch(batch),
  };
}

/**
 * Publishes until JetStream has acknowledged, however long that takes: the same message id each time, so that an acknowledgement
 * that got lost stores nothing twice there. Answers the message's number in the stream. Rejects only when `signal` ends the wait.
 */
export async function publishUntilStored(
  link: NatsLink,
  { lane, id, bytes }: BatchMessage,
  { signal, onRetry }: PublishOptions,
): Promise<number> {
  const identified = id === undefined ? {} : { msgID: id };
  const backoff = new Backoff({ ...BACKOFF, signal });
  for (;;) {
    signal.throwIfAborted();
    const nats = link.current();
    if (nats !== undefined) {
      try {
        const { seq } = await nats.jetstream.publish(nats.subjects.clicks(lane), bytes, {
          ...identified,
          timeout: ACK_TIMEOUT_MS,
        });
        return seq;
      } catch (error) {
        // Whatever it was (timeout, no stream yet, connection lost): the batch is in the journal, and is sent again.
        onRetry(error);
      }
    }
    await backoff.pause();
  }
}
