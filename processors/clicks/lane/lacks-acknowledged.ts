import { decodeBatch } from "../../../schemas/events/click-batch.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { lastAcknowledged } from "../../../schemas/nats/lane-consumer.ts";
import type { Producers } from "../intake/producers.ts";

/**
 * Whether the table lacks the last record that was acknowledged to JetStream. A record is acknowledged after it was stored, so then ClickHouse
 * and Postgres were both put back to older copies, which agree with each other (P38). False while JetStream does not answer: then no message
 * is read either, and the next opening asks again.
 */
export async function lacksAcknowledged(
  { nats, log }: { readonly nats: Nats; readonly log: Log },
  lane: number,
  producers: Producers,
): Promise<boolean> {
  try {
    const bytes = await lastAcknowledged(nats, lane);
    if (bytes === undefined) return false;
    const { producer, epoch, first, lines } = decodeBatch(bytes);
    const last = first + lines.length - 1;
    if (last < 0) return false;
    const { settled } = producers.get(producer, epoch);
    if (last >= settled.next) return true;
    // A message without records is acknowledged although records before it may not have arrived yet.
    return lines.length > 0 && !settled.hasAny(last, last + 1);
  } catch (error) {
    log.warn({ err: error }, "clicks.acknowledged-not-compared");
    return false;
  }
}
