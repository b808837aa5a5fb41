import { DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";

const NS_PER_MS = 1_000_000;
const HOUR_MS = 3_600_000;
/** Clicks stay this long after they are stored, so that a ClickHouse that lost them is filled again (P5). */
const CLICKS_MAX_AGE_MS = 72 * HOUR_MS;
const CLICKS_BYTES_MAX = 64 * 1024 ** 3;
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
    max_bytes: CLICKS_BYTES_MAX,
    duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
    num_replicas: replicas,
    // The oldest goes first: producers keep what is not stored, and a full stream must never refuse the newest click.
    discard: DiscardPolicy.Old,
    allow_direct: true,
  };
  const { streams } = manager;
  if (await exists(streams.get(name))) {
    await manager.streams.update(name, settings);
    return;
  }
  await manager.streams.add({
    ...settings,
    name,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
  });
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
