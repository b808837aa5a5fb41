import { DeliverPolicy } from "@nats-io/jetstream";
import { decodeBatchHead } from "../events/click-batch.ts";
import type { Nats } from "./connect.ts";
import { clicksStreams } from "./lane-groups.ts";

/** An idle producer sends two messages a second in each lane, so this many messages of a stream contain one from each live producer. */
const MESSAGES_MAX = 20_000;
const PATIENCE_MS = 5_000;

/** Numbers of the producers in the newest messages of each stream. */
export async function recentProducers(nats: Nats): Promise<number[]> {
  const producers = new Set<number>();
  for (const stream of clicksStreams(nats)) {
    for (const producer of await recentIn(nats, stream)) producers.add(producer);
  }
  return [...producers];
}

async function recentIn(nats: Nats, stream: string): Promise<Iterable<number>> {
  const manager = await nats.manager();
  const { state } = await manager.streams.info(stream);
  const from = Math.max(state.first_seq, state.last_seq - MESSAGES_MAX + 1);
  if (state.messages === 0) return [];
  const consumer = await nats.jetstream.consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
  });
  const producers = new Set<number>();
  const messages = await consumer.fetch({
    max_messages: state.last_seq - from + 1,
    expires: PATIENCE_MS,
  });
  for await (const message of messages) {
    try {
      producers.add(decodeBatchHead(message.data).head.producer);
    } catch {
      // Not from one of our producers. The click writers report such messages.
      continue;
    }
    if (message.seq >= state.last_seq) break;
  }
  return producers;
}
