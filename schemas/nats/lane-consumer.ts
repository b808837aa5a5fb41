import type { ConsumerInfo, ConsumerMessages } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";
import { clicksStream, laneConsumer } from "./streams.ts";

const NS_PER_MS = 1_000_000;
const ACK_WAIT_MS = 60_000;
const ACKS_PENDING_MAX = 4_096;
const PULL_EXPIRES_MS = 10_000;

/** `acknowledged`: after the last message that was acknowledged. `beginning`: everything that the stream still holds. */
export type LaneStart = "acknowledged" | "beginning";

/**
 * The messages of a lane in the order of the stream, for its one owner. Acknowledging a message acknowledges all before it.
 * The durable consumer is made anew each time: what was handed to an owner that is gone comes at once, and not after the
 * time within which that owner could have acknowledged it. Ends, or throws, when the stream or the consumer is gone.
 */
export async function consumeLane(
  nats: Nats,
  lane: number,
  options: { readonly start: LaneStart; readonly bytesMax: number },
): Promise<ConsumerMessages> {
  const manager = await nats.manager();
  const stream = clicksStream(nats);
  const name = laneConsumer(lane);
  const known = await found(manager.consumers.info(stream, name));
  if (known !== undefined) await manager.consumers.delete(stream, name);
  const isFresh = known === undefined || options.start === "beginning";
  await manager.consumers.add(stream, {
    durable_name: name,
    filter_subject: nats.subjects.clicks(lane),
    ack_policy: AckPolicy.All,
    ...(isFresh
      ? { deliver_policy: DeliverPolicy.All }
      : {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: known.ack_floor.stream_seq + 1,
        }),
    ack_wait: ACK_WAIT_MS * NS_PER_MS,
    max_ack_pending: ACKS_PENDING_MAX,
    max_deliver: -1,
  });
  const consumer = await nats.jetstream.consumers.get(stream, name);
  return await consumer.consume({
    max_bytes: options.bytesMax,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
  });
}

async function found(lookup: Promise<ConsumerInfo>): Promise<ConsumerInfo | undefined> {
  try {
    return await lookup;
  } catch (error) {
    if (error instanceof Error && error.name === "ConsumerNotFoundError") return undefined;
    throw error;
  }
}
