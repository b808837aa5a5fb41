import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";

const NS_PER_MS = 1_000_000;
const HOUR_MS = 3_600_000;
/** Clicks stay this long after they are stored, so that a ClickHouse that lost them is filled again (P5). */
const CLICKS_MAX_AGE_MS = 72 * HOUR_MS;
/** As much as this where the server has the room, at least the second figure. */
const CLICKS_BYTES_MAX = 64 * 1024 ** 3;
const CLICKS_BYTES_MIN = 256 * 1024 ** 2;
/** The server reserves the bytes of a stream, and has not that many (JSStorageResourcesExceededErr). */
const NO_ROOM = 10_047;
const DUPLICATE_WINDOW_MS = 120_000;

/** Stream of all lanes. JetStream names hold no dots. */
export function clicksStream(nats: Nats): string {
  return nats.prefix === "" ? "CLICKS" : `CLICKS_${nats.prefix.replaceAll(".", "_")}`;
}

/** Durable consumer of one lane. */
export function laneConsumer(lane: number): string {
  return `lane_${lane}`;
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
    // The oldest goes first: producers keep what is not stored, and a full stream must never refuse the newest click.
    discard: DiscardPolicy.Old,
    allow_direct: true,
  };
  const { streams } = manager;
  if (await exists(streams.get(name))) {
    // The size it was given when it was made stays.
    await streams.update(name, settings);
    return;
  }
  const { File: storage } = StorageType;
  const { Limits: retention } = RetentionPolicy;
  for (let bytes = CLICKS_BYTES_MAX; ; bytes = Math.floor(bytes / 2)) {
    try {
      await streams.add({ ...settings, name, max_bytes: bytes, storage, retention });
      return;
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== NO_ROOM) throw error;
      if (bytes / 2 < CLICKS_BYTES_MIN) throw error;
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
