import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClickBatch, encodeBatch } from "../../schemas/events/click-batch.ts";
import type { NatsLink } from "../nats-link.ts";

const ACK_TIMEOUT_MS = 5_000;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 2_000;

/**
 * Publishes until JetStream has acknowledged, however long that takes: the same message id each time, so that an acknowledgement
 * that got lost stores nothing twice there. Rejects only when `signal` ends the wait.
 */
export async function publishUntilStored(
  link: NatsLink,
  batch: ClickBatch,
  options: {
    readonly signal: AbortSignal;
    readonly onRetry: () => void;
    /** The batch was shipped before and the writer misses it: JetStream must not take it for a repeat. */
    readonly isAgain?: boolean;
  },
): Promise<void> {
  const bytes = encodeBatch(batch);
  const { producer, epoch, lane, first, lines } = batch;
  const again = options.isAgain === true ? `.${randomUUID()}` : "";
  const msgID = `${producer}.${epoch}.${lane}.${first}-${lines.length}${again}`;
  for (let pauseMs = RETRY_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, RETRY_MS_MAX)) {
    options.signal.throwIfAborted();
    const nats = link.current();
    if (nats !== undefined) {
      try {
        // A message without records says only when it was cut: each is new.
        const identified = lines.length > 0 ? { msgID } : {};
        await nats.jetstream.publish(nats.subjects.clicks(lane), bytes, {
          ...identified,
          timeout: ACK_TIMEOUT_MS,
        });
        return;
      } catch {
        // Whatever it was (timeout, no stream yet, connection lost): the batch is in the journal, and is sent again.
        options.onRetry();
      }
    }
    await sleep(pauseMs, undefined, { signal: options.signal });
  }
}
