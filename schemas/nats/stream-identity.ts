import { z } from "zod";
import type { Nats } from "./connect.ts";
import { clicksStream } from "./streams.ts";

/** What the streams have recorded about Postgres. */
const StreamIdentity = z.object({
  incarnation: z.string(),
  /** The beat of Postgres when this was written. */
  beat: z.int().nonnegative(),
  /** Last values of its sequences at that time. */
  sequences: z.record(z.string(), z.int().nonnegative()),
});
export type StreamIdentity = z.infer<typeof StreamIdentity>;

/** The entry in the metadata of the stream. */
const ENTRY = "tracker-installation";

/** Undefined for streams without the entry, and while there is no stream. @throws while JetStream does not answer. */
export async function readStreamIdentity(nats: Nats): Promise<StreamIdentity | undefined> {
  const entry = (await streamConfig(nats))?.metadata?.[ENTRY];
  return entry === undefined ? undefined : StreamIdentity.parse(JSON.parse(entry));
}

/**
 * Replaces the entry; the other metadata stays. Does nothing while there is no stream: whoever creates it writes the entry at the next
 * comparison. @throws while JetStream does not answer.
 */
export async function writeStreamIdentity(nats: Nats, identity: StreamIdentity): Promise<void> {
  const config = await streamConfig(nats);
  if (config === undefined) return;
  const { streams } = await nats.manager();
  const metadata = { ...config.metadata, [ENTRY]: JSON.stringify(identity) };
  await streams.update(clicksStream(nats), { metadata });
}

async function streamConfig(
  nats: Nats,
): Promise<{ readonly metadata?: Record<string, string> } | undefined> {
  const { streams } = await nats.manager();
  try {
    return (await streams.info(clicksStream(nats))).config;
  } catch (error) {
    if (error instanceof Error && error.name === "StreamNotFoundError") return undefined;
    throw error;
  }
}
