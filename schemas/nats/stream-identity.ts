import { z } from "zod";
import type { Nats } from "./connect.ts";
import { clicksStreams } from "./lane-groups.ts";

/** What the streams have recorded about Postgres. */
const StreamIdentity = z.object({
  incarnation: z.string(),
  /** The beat of Postgres when this was written. */
  beat: z.int().nonnegative(),
  /** Last values of the sequences of Postgres at that time. */
  sequences: z.record(z.string(), z.int().nonnegative()),
});
export type StreamIdentity = z.infer<typeof StreamIdentity>;

/** The entry in the metadata of the stream. */
const ENTRY = "tracker-installation";

/**
 * The entry of each stream that answers, undefined for a stream without one; streams that do not exist are left out. All have the same entry,
 * unless one was made again, or did not answer when the entry was written. @throws when none answers.
 */
export async function readStreamIdentities(
  nats: Nats,
): Promise<readonly (StreamIdentity | undefined)[]> {
  const configs = await Promise.allSettled(
    clicksStreams(nats).map(async (name) => await streamConfig(nats, name)),
  );
  const silent = configs.find((one) => one.status === "rejected");
  if (silent !== undefined && configs.every(({ status }) => status === "rejected"))
    throw silent.reason;
  return configs.flatMap((one) => {
    if (one.status === "rejected" || one.value === undefined) return [];
    const entry = one.value.metadata?.[ENTRY];
    return [entry === undefined ? undefined : StreamIdentity.parse(JSON.parse(entry))];
  });
}

/**
 * Replaces the entry in every stream; other metadata stays. Does nothing about a stream that does not exist: whoever creates it writes the
 * entry at the next comparison. @throws while a stream does not answer, after the others have it.
 */
export async function writeStreamIdentity(nats: Nats, identity: StreamIdentity): Promise<void> {
  const { streams } = await nats.manager();
  const written = await Promise.allSettled(
    clicksStreams(nats).map(async (name) => {
      const config = await streamConfig(nats, name);
      if (config === undefined) return;
      const metadata = { ...config.metadata, [ENTRY]: JSON.stringify(identity) };
      await streams.update(name, { metadata });
    }),
  );
  const failed = written.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function streamConfig(
  nats: Nats,
  name: string,
): Promise<{ readonly metadata?: Record<string, string> } | undefined> {
  const { streams } = await nats.manager();
  try {
    return (await streams.info(name)).config;
  } catch (error) {
    if (error instanceof Error && error.name === "StreamNotFoundError") return undefined;
    throw error;
  }
}
