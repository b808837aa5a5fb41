import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  StoreCompression,
} from "@nats-io/jetstream";
import type { Nats } from "./connect.ts";
import { hasNoLeader } from "./errors.ts";
import type { StreamCompression } from "./stream-settings.ts";

/** The limits of the click stream. */
export type StreamLimits = {
  readonly replicas: number;
  /** Hours that a click stays, 0 for ever. */
  readonly hours: number;
  /** -1 without a limit of its own. */
  readonly bytes: number;
  readonly compression: StreamCompression;
};

export type StreamState = StreamLimits & {
  readonly name: string;
  readonly messages: number;
  readonly bytesUsed: number;
  readonly oldestAt: string | null;
  /** Of a cluster: the server that answers, and the others with whether they have everything. */
  readonly leader: string | null;
  readonly followers: readonly { readonly name: string; readonly isCurrent: boolean }[];
};

const NS_PER_HOUR = 3_600_000_000_000;
const NS_PER_MS = 1_000_000;
const GIB = 1024 ** 3;
/**
 * Sizes to try, largest first; the server reserves the bytes. A stream without its own limit (-1) is full at the limit of the server, which
 * then refuses clicks: they stay in the journals.
 */
export const CLICKS_BYTES_MAX = [64 * GIB, 16 * GIB, 4 * GIB, -1];
const NO_LIMIT = -1;
const REPLICAS_WANTED = 3;
/** The server cannot reserve that many bytes (JSStorageResourcesExceededErr). */
const NO_ROOM = 10_047;
/** Too few servers, or too few with enough room (JSClusterNoPeersErrF, JSStreamReplicasNotSupportedErr). */
const TOO_FEW_SERVERS = [10_005, 10_074];
const DUPLICATE_WINDOW_MS = 120_000;

/** The stream of all lanes. JetStream names must not contain dots. */
export function clicksStream({ prefix }: Pick<Nats, "prefix">): string {
  return prefix === "" ? "CLICKS" : `CLICKS_${prefix.replaceAll(".", "_")}`;
}

/**
 * Creates the click stream, or raises it to the settings: replicas, hours and bytes never fall. Safe to run twice.
 * @throws {Error} with one sentence when the servers cannot hold it.
 */
export async function ensureStreams(nats: Nats): Promise<StreamState> {
  const manager = await nats.manager();
  const present = await findStream(manager, clicksStream(nats));
  if (present === undefined) return await createStream(nats, manager);
  return await raiseStream(nats, manager, limitsOf(present));
}

/** The click stream; undefined before `migrate`. */
export async function readStream(nats: Nats): Promise<StreamState | undefined> {
  const info = await findStream(await nats.manager(), clicksStream(nats));
  return info === undefined ? undefined : stateOf(info);
}

/** Gives the click stream exactly these limits. The caller decides whether it may lose clicks by that. */
export async function setStream(nats: Nats, limits: StreamLimits): Promise<StreamState> {
  const manager = await nats.manager();
  const present = await readStream(nats);
  refuseImpossible(nats, limits.replicas, present?.replicas ?? 1);
  return await firstPossible(
    nats,
    [limits],
    async () => await manager.streams.update(clicksStream(nats), configOf(nats, limits)),
  );
}

async function createStream(nats: Nats, manager: JetStreamManager): Promise<StreamState> {
  const { bytes: bytesWanted, hours, compression } = nats.streams;
  const sizes = bytesWanted === undefined ? CLICKS_BYTES_MAX : [bytesWanted];
  const tries = replicasToTry(nats, 1).flatMap((replicas) =>
    sizes.map((bytes) => ({ replicas, hours, bytes, compression })),
  );
  return await firstPossible(nats, tries, async (limits) => {
    const { File: storage } = StorageType;
    const { Limits: retention } = RetentionPolicy;
    const name = clicksStream(nats);
    return await manager.streams.add({ ...configOf(nats, limits), name, storage, retention });
  });
}

async function raiseStream(
  nats: Nats,
  manager: JetStreamManager,
  present: StreamLimits,
): Promise<StreamState> {
  const { bytes, hours, compression } = nats.streams;
  refuseImpossible(nats, replicasToTry(nats, present.replicas).at(-1) ?? 1, present.replicas);
  const raised = {
    hours: present.hours === 0 ? 0 : Math.max(present.hours, hours),
    bytes: present.bytes === NO_LIMIT ? NO_LIMIT : Math.max(present.bytes, bytes ?? 0),
    compression,
  };
  const tries = replicasToTry(nats, present.replicas).map((replicas) => ({ replicas, ...raised }));
  return await firstPossible(
    nats,
    tries,
    async (limits) => await manager.streams.update(clicksStream(nats), configOf(nats, limits)),
  );
}

/**
 * Numbers of copies, best first, none below `present`. A cluster may have more servers than the settings name, so three are tried. With
 * three servers in the settings nothing less is accepted: one of them may only be away now.
 */
function replicasToTry({ streams, serversNamed, connection }: Nats, present: number): number[] {
  if (streams.replicas !== undefined) return [Math.max(streams.replicas, present)];
  const least = Math.max(present, Math.min(REPLICAS_WANTED, serversNamed));
  const most = isCluster({ connection }) ? Math.max(least, REPLICAS_WANTED) : least;
  return Array.from({ length: most - least + 1 }, (_, index) => most - index);
}

function isCluster({ connection }: Pick<Nats, "connection">): boolean {
  return (connection.info?.cluster ?? "") !== "";
}

async function firstPossible(
  nats: Nats,
  tries: readonly StreamLimits[],
  apply: (limits: StreamLimits) => Promise<StreamInfo>,
): Promise<StreamState> {
  for (const [index, limits] of tries.entries()) {
    try {
      return stateOf(await apply(limits));
    } catch (error) {
      const isLast = index === tries.length - 1;
      if (isLast || !isTooLittle(error)) throw sentenceOf(error, nats, limits);
    }
  }
  throw new Error("no limits to try");
}

/** A server without a cluster takes any number of copies for a stream that exists, and makes none. */
function refuseImpossible(nats: Nats, wanted: number, present: number): void {
  if (wanted <= present || isCluster(nats)) return;
  throw new Error(tooFewServers(clicksStream(nats), wanted));
}

function tooFewServers(name: string, replicas: number): string {
  return `NATS has too few servers, or too little room on them, for ${replicas} copies of the stream ${name}. Start the missing servers, or set NATS_REPLICAS or CLICKS_STREAM_BYTES lower.`;
}

function isTooLittle(error: unknown): boolean {
  return error instanceof JetStreamApiError && [NO_ROOM, ...TOO_FEW_SERVERS].includes(error.code);
}

function sentenceOf(error: unknown, nats: Nats, { replicas, bytes }: StreamLimits): unknown {
  const name = clicksStream(nats);
  const silence = noAnswer(error, name);
  if (silence !== undefined) return silence;
  if (!(error instanceof JetStreamApiError)) return error;
  if (error.code === NO_ROOM) {
    const sentence = `NATS has no room for ${bytes} bytes of the stream ${name}. Enlarge max_file_store of NATS, or set CLICKS_STREAM_BYTES lower.`;
    return new Error(sentence, { cause: error });
  }
  if (!TOO_FEW_SERVERS.includes(error.code)) return error;
  return new Error(tooFewServers(name, replicas), { cause: error });
}

/** The sentence for a cluster without a leader. */
function noAnswer(error: unknown, name: string): Error | undefined {
  if (!hasNoLeader(error)) return undefined;
  const sentence = `JetStream does not answer about the stream ${name}: most of its servers are away, or they elect a leader. Repeat it.`;
  return new Error(sentence, { cause: error });
}

function configOf(nats: Nats, { replicas, hours, bytes, compression }: StreamLimits) {
  return {
    subjects: [nats.subjects.allClicks],
    max_age: hours * NS_PER_HOUR,
    max_bytes: bytes,
    duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
    num_replicas: replicas,
    compression: compression === "s2" ? StoreCompression.S2 : StoreCompression.None,
    // A full stream discards its oldest messages and never refuses a new click. Producers keep clicks until they are stored.
    discard: DiscardPolicy.Old,
    allow_direct: true,
  };
}

function limitsOf({ config }: StreamInfo): StreamLimits {
  return {
    replicas: config.num_replicas,
    hours: config.max_age / NS_PER_HOUR,
    bytes: config.max_bytes,
    compression: config.compression === StoreCompression.S2 ? "s2" : "none",
  };
}

function stateOf(info: StreamInfo): StreamState {
  const { config, state, cluster } = info;
  return {
    ...limitsOf(info),
    name: config.name,
    messages: state.messages,
    bytesUsed: state.bytes,
    oldestAt: state.messages === 0 ? null : state.first_ts,
    leader: cluster?.leader ?? null,
    followers: (cluster?.replicas ?? []).map((peer) => ({
      name: peer.name,
      isCurrent: peer.current,
    })),
  };
}

async function findStream(
  { streams }: JetStreamManager,
  name: string,
): Promise<StreamInfo | undefined> {
  try {
    return await streams.info(name);
  } catch (error) {
    if (error instanceof Error && error.name === "StreamNotFoundError") return undefined;
    throw noAnswer(error, name) ?? error;
  }
}
