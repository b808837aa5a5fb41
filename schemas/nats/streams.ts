import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";

const NS_PER_MS = 1_000_000;
const HOUR_MS = 3_600_000;
/** Clicks stay this long after they were stored, so that a ClickHouse that lost them can be filled again (P5). */
const CLICKS_MAX_AGE_MS = 72 * HOUR_MS;
const GIB = 1024 ** 3;
/**
 * Sizes to try, largest first; the server reserves the bytes. A stream without its own limit (-1) is full at the limit of the server, which
 * then refuses clicks: they stay in the journals.
 */
const CLICKS_BYTES_MAX = [64 * GIB, 16 * GIB, 4 * GIB, -1];
/** The server cannot reserve that many bytes (JSStorageResourcesExceededErr). */
const NO_ROOM = 10_047;
const DUPLICATE_WINDOW_MS = 120_000;

/** The stream of all lanes. JetStream names must not contain dots. */
export function clicksStream(nats: Nats): string {
  return nats.prefix === "" ? "CLICKS" : `CLICKS_${nats.prefix.replaceAll(".", "_")}`;
}

/** Creates the streams or brings them to these settings. Safe to run twice. `replicas` is 3 in a cluster. */
export async function ensureStreams(nats: Nats, replicas = 1): Promise<void> {
  const manager = await nats.manager();
  const name = clicksStream(nats);
  const settings = {
    subjects: [nats.subjects.allClicks],
    max_age: CLICKS_MAX_AGE_MS * NS_PER_MS,
    duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
    num_replicas: replicas,
    // A full stream discards its oldest messages and never refuses a new click. Producers keep clicks until they are stored.
    discard: DiscardPolicy.Old,
    allow_direct: true,
  };
  const { streams } = manager;
  if (await exists(streams.get(name))) {
    // Keep the size with which the stream was created.
    await streams.update(name, settings);
    return;
  }
  const { File: storage } = StorageType;
  const { Limits: retention } = RetentionPolicy;
  for (const bytes of CLICKS_BYTES_MAX) {
    try {
      await streams.add({ ...settings, name, max_bytes: bytes, storage, retention });
      return;
    } catch (error) {
      const hasNoRoom = error instanceof JetStreamApiError && error.code === NO_ROOM;
      if (!hasNoRoom || bytes === CLICKS_BYTES_MAX.at(-1)) throw error;
    }
  }
}

async function exists(lookup: Promise<unknown>): Promise<boolean> {
  try {
    await lookup;
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "StreamNotFoundError") return false;
    throw error;
  }
}
