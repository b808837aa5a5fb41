import type { Nats } from "./connect.ts";
import { readStreams } from "./streams.ts";

/**
 * When the oldest message was published that the click streams still have, UTC ms; infinite if they are empty. Every earlier message is gone.
 * @throws what the driver throws.
 */
export async function oldestClickMessageMs(nats: Nats): Promise<number> {
  const streams = await readStreams(nats);
  const times = streams.flatMap((stream) =>
    stream?.oldestAt === null || stream === undefined ? [] : [Date.parse(stream.oldestAt)],
  );
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}
