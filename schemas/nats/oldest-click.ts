import type { Nats } from "./connect.ts";
import { readStream } from "./streams.ts";

/**
 * When the oldest message was published that the click stream still has, UTC ms; infinite for an empty stream. Every earlier message is gone.
 * @throws what the driver throws.
 */
export async function oldestClickMessageMs(nats: Nats): Promise<number> {
  const stream = await readStream(nats);
  return stream === undefined || stream.oldestAt === null
    ? Number.POSITIVE_INFINITY
    : Date.parse(stream.oldestAt);
}
