import { streamOfLane } from "../../schemas/nats/lane-groups.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";

/** Numbers of messages in the stream of a lane. `created` identifies the stream: a stream that was made again counts from 1. */
export type StreamMark = {
  readonly created: string;
  readonly first: number;
  readonly last: number;
};

type StreamState = {
  readonly created: string;
  readonly firstKept: number;
  readonly lastKept: number;
};

/** Marks the messages that JetStream acknowledged with these numbers. Returns undefined while JetStream cannot be asked. */
export async function markStream(
  link: NatsLink,
  lane: number,
  sequences: { readonly first: number; readonly last: number },
): Promise<StreamMark | undefined> {
  const state = await streamState(link, lane);
  return state === undefined ? undefined : { created: state.created, ...sequences };
}

/** Whether the stream still has all of the messages, as far as JetStream reports; true while it cannot be asked. */
export async function hasKept(link: NatsLink, lane: number, mark: StreamMark): Promise<boolean> {
  const state = await streamState(link, lane);
  if (state === undefined) return true;
  const { created, firstKept, lastKept } = state;
  return created === mark.created && firstKept <= mark.first && lastKept >= mark.last;
}

async function streamState(link: NatsLink, lane: number): Promise<StreamState | undefined> {
  const nats = link.current();
  if (nats === undefined) return undefined;
  try {
    const manager = await nats.manager();
    const { created, state } = await manager.streams.info(streamOfLane(nats, lane));
    return { created, firstKept: state.first_seq, lastKept: state.last_seq };
  } catch (error) {
    // A missing stream is an answer. After any other fault JetStream is asked again.
    if (error instanceof Error && error.name === "StreamNotFoundError") {
      return { created: "", firstKept: 0, lastKept: 0 };
    }
    return undefined;
  }
}
