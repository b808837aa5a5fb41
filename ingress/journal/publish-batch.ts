import { randomUUID } from "node:crypto";
import { type ClickBatch, encodeBatch } from "../../schemas/events/click-batch.ts";
import { Backoff } from "../../schemas/host/backoff.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import { systemClock } from "../../schemas/time/clock.ts";

const ACK_TIMEOUT_MS = 5_000;
const BACKOFF = { firstMs: 50, longestMs: 2_000 } as const;

/** A batch as it is sent. */
export type BatchMessage = {
  readonly lane: number;
  /** Undefined when a repeat of the message does no harm, so that JetStream need not recognise it. */
  readonly id: string | undefined;
  readonly bytes: Uint8Array;
};

export type PublishOptions = {
  readonly signal: AbortSignal;
  /** The message is sent again; the argument says why. */
  readonly onRetry: (error: unknown) => void;
  /** JetStream has acknowledged the message after this time. */
  readonly onStored?: (seconds: number) => void;
};

/** Names a batch by its content, so that JetStream recognises a repeat. */
export function batchId(batch: Omit<ClickBatch, "lines">, records: number): string {
  return `${batch.producer}.${batch.epoch}.${batch.lane}.${batch.first}-${records}`;
}

type EndedRun = { readonly producer: number; readonly epoch: number; readonly nonce: string };
type EndOptions = PublishOptions & { readonly lanes: readonly number[] };

/** Publishes in these lanes that this epoch and all earlier ones have ended, for a process that can no longer do so. */
export async function publishEnded(
  link: NatsLink,
  run: EndedRun,
  options: EndOptions,
): Promise<void> {
  await publishIn(link, { ...run, endedBefore: run.epoch + 1 }, options);
}

/** Publishes in these lanes that this epoch has ended. Other epochs of the number may belong to another process, which goes on. */
export async function publishEndedAlone(
  link: NatsLink,
  run: EndedRun,
  options: EndOptions,
): Promise<void> {
  await publishIn(link, { ...run, endedBefore: 0, hasEnded: true }, options);
}

async function publishIn(
  link: NatsLink,
  head: Omit<ClickBatch, "lane" | "first" | "at" | "lines">,
  options: EndOptions,
): Promise<void> {
  for (const lane of options.lanes) {
    const batch = { ...head, lane, first: 0, at: systemClock.nowMs(), lines: [] };
    if (options.signal.aborted) return;
    await publishUntilStored(link, { lane, id: undefined, bytes: encodeBatch(batch) }, options);
  }
}

/** A batch that was shipped before and that the writer misses. Its message ID is new: JetStream must not drop it as a repeat. */
export function messageToRepeat(batch: ClickBatch): BatchMessage {
  const { lane, lines } = batch;
  return {
    lane,
    id: `${batchId(batch, lines.length)}.${randomUUID()}`,
    bytes: encodeBatch(batch),
  };
}

/**
 * Publishes until JetStream has acknowledged, however long that takes. The message ID stays the same, so that JetStream does not store the
 * message twice after a lost acknowledgement. Returns the message's number in the stream. Rejects only when `signal` ends the wait.
 */
export async function publishUntilStored(
  link: NatsLink,
  { lane, id, bytes }: BatchMessage,
  { signal, onRetry, onStored }: PublishOptions,
): Promise<number> {
  const identified = id === undefined ? {} : { msgID: id };
  const backoff = new Backoff({ ...BACKOFF, signal });
  for (;;) {
    signal.throwIfAborted();
    const nats = link.current();
    if (nats !== undefined) {
      const startedAtMs = performance.now();
      try {
        const { seq } = await nats.jetstream.publish(nats.subjects.clicks(lane), bytes, {
          ...identified,
          timeout: ACK_TIMEOUT_MS,
        });
        onStored?.((performance.now() - startedAtMs) / 1_000);
        return seq;
      } catch (error) {
        // Whatever the fault (timeout, no stream yet, connection lost): the batch is in the journal, and is sent again.
        onRetry(error);
      }
    }
    await backoff.pause();
  }
}
