import { randomBytes } from "node:crypto";
import type { ConsumerInfo, ConsumerMessages, JetStreamManager } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";
import { streamOfLane } from "./lane-groups.ts";

const NS_PER_MS = 1_000_000;
/** Long enough that a live owner gets nothing twice. What it missed it reads through a consumer with a new name. */
const ACK_WAIT_MS = 24 * 3_600_000;
/**
 * More messages than an owner holds while ClickHouse is away (128 MiB; a message has at least one click of 400 bytes). The owner itself
 * stops reading at its limit; until then it must get every click (P12).
 */
const ACKS_PENDING_MAX = 400_000;
const PULL_EXPIRES_MS = 10_000;

/** `acknowledged`: after the last acknowledged message. `beginning`: everything that is still in the stream. */
export type LaneStart = "acknowledged" | "beginning";

/**
 * The messages of a lane in the order of the stream, for its one owner. Acknowledging a message acknowledges all before it.
 *
 * Each call creates a durable consumer with a new name, which starts where the previous one was, and removes the previous one. So messages
 * that were sent to a dead owner come again at once, and a late acknowledgement of that owner does not affect the new consumer. Ends, or
 * throws, when the stream or the consumer was deleted.
 */
export async function consumeLane(
  nats: Nats,
  lane: number,
  options: { readonly start: LaneStart; readonly bytesMax: number },
): Promise<ConsumerMessages> {
  const manager = await nats.manager();
  const stream = streamOfLane(nats, lane);
  const earlier = await laneConsumers(nats, lane);
  const acknowledged = Math.max(0, ...earlier.map((info) => info.ack_floor.stream_seq));
  const isFromBeginning = options.start === "beginning" || acknowledged === 0;
  const name = `${consumerPrefix(lane)}${randomBytes(6).toString("hex")}`;
  await manager.consumers.add(stream, {
    durable_name: name,
    filter_subject: nats.subjects.clicks(lane),
    ack_policy: AckPolicy.All,
    ...(isFromBeginning
      ? { deliver_policy: DeliverPolicy.All }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: acknowledged + 1 }),
    ack_wait: ACK_WAIT_MS * NS_PER_MS,
    max_ack_pending: ACKS_PENDING_MAX,
    max_deliver: -1,
  });
  for (const info of earlier) await removeConsumer(manager, stream, info.name);
  const consumer = await nats.jetstream.consumers.get(stream, name);
  return await consumer.consume({
    max_bytes: options.bytesMax,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
  });
}

/** The last message of a lane that its owners have acknowledged; undefined if there is none, or the stream has it no longer. */
export async function lastAcknowledged(nats: Nats, lane: number): Promise<Uint8Array | undefined> {
  const consumers = await laneConsumers(nats, lane);
  const sequence = Math.max(0, ...consumers.map((info) => info.ack_floor.stream_seq));
  if (sequence === 0) return undefined;
  const manager = await nats.manager();
  const message = await manager.streams.getMessage(streamOfLane(nats, lane), { seq: sequence });
  return message?.subject === nats.subjects.clicks(lane) ? message.data : undefined;
}

/** The consumers of a lane: one, or two while its owner changes. */
export async function laneConsumers(nats: Nats, lane: number): Promise<ConsumerInfo[]> {
  const manager = await nats.manager();
  const found: ConsumerInfo[] = [];
  for await (const info of manager.consumers.list(streamOfLane(nats, lane))) {
    if (info.name.startsWith(consumerPrefix(lane))) found.push(info);
  }
  return found;
}

/**
 * Forgets which messages of a lane were acknowledged, so that its next owner reads everything in the stream. Only for a lane without an
 * owner. Safe to run twice.
 */
export async function forgetAcknowledged(nats: Nats, lane: number): Promise<void> {
  const manager = await nats.manager();
  for (const { name } of await laneConsumers(nats, lane)) {
    await removeConsumer(manager, streamOfLane(nats, lane), name);
  }
}

function consumerPrefix(lane: number): string {
  return `lane_${lane}_`;
}

async function removeConsumer(
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<void> {
  try {
    await manager.consumers.delete(stream, name);
  } catch (error) {
    // Another owner has removed it meanwhile.
    if (!(error instanceof Error && error.name === "ConsumerNotFoundError")) throw error;
  }
}
