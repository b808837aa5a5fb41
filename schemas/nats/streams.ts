import { setTimeout as sleep } from "node:timers/promises";
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
import { clicksStreams, lanesOfGroup, streamOfLane } from "./lane-groups.ts";

/** The limits of a click stream. */
export type StreamLimits = {
  readonly replicas: number;
  /** Hours that a click stays, 0 for ever. */
  readonly hours: number;
  /** -1 without a limit of its own. */
  readonly bytes: number;
  readonly compression: "s2" | "none";
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
/** Another stream has a subject of this stream (JSStreamSubjectOverlapErr). */
const SUBJECTS_OVERLAP = 10_065;
const DUPLICATE_WINDOW_MS = 120_000;
/** Servers tell each other their room when they meet and every 10 s. Until then a leader takes them for full, so the best limits are asked again. */
const ROOM_KNOWN_MS = 15_000;
const ASK_AGAIN_MS = 500;

/**
 * Creates the click streams, or raises them to the settings: replicas, hours and bytes never fall. Safe to run twice.
 * @throws {Error} with one sentence when the servers cannot hold them, or have streams of another LANE_GROUPS. Then no stream was created.
 */
export async function ensureStreams(nats: Nats): Promise<StreamState[]> {
  const manager = await nats.manager();
  const names = clicksStreams(nats);
  const present = await Promise.all(names.map(async (name) => await findStream(manager, name)));
  for (const [group, info] of present.entries()) refuseOtherGroups(nats, group, info);
  const patience = patienceOf(nats);
  const ensured: StreamState[] = [];
  for (const [group, info] of present.entries())
    ensured.push(await ensureStream(nats, { group, present: info, patience }));
  return ensured;
}

/** The same for the stream of one lane, so that the writer of the lane needs no other stream. */
export async function ensureStreamOfLane(nats: Nats, lane: number): Promise<void> {
  const group = lane % nats.groups;
  const info = await findStream(await nats.manager(), streamOfLane(nats, lane));
  refuseOtherGroups(nats, group, info);
  await ensureStream(nats, { group, present: info, patience: patienceOf(nats) });
}

/** The click streams, by group; undefined for one that does not exist. */
export async function readStreams(nats: Nats): Promise<(StreamState | undefined)[]> {
  return await Promise.all(
    clicksStreams(nats).map(async (_, group) => await readStream(nats, group)),
  );
}

/** The stream of a group; undefined if it does not exist. */
export async function readStream(nats: Nats, group: number): Promise<StreamState | undefined> {
  const info = await findStream(await nats.manager(), ownStream(nats, group).name);
  return info && stateOf(info);
}

/** Gives the stream of a group exactly these limits. The caller decides whether it may lose clicks by that. */
export async function setStream(
  nats: Nats,
  group: number,
  limits: StreamLimits,
): Promise<StreamState> {
  const manager = await nats.manager();
  const stream = ownStream(nats, group);
  const present = await findStream(manager, stream.name);
  refuseImpossible(nats, stream, limits.replicas, present?.config.num_replicas ?? 1);
  return await firstPossible(
    stream,
    [limits],
    async () => await manager.streams.update(stream.name, configOf(stream, limits)),
  );
}

type OwnStream = { readonly name: string; readonly subjects: readonly string[] };

function ownStream(nats: Nats, group: number): OwnStream {
  const { groups, subjects } = nats;
  return {
    name: clicksStreams(nats)[group] ?? "",
    subjects:
      groups === 1 ? [subjects.allClicks] : lanesOfGroup(group, groups).map(subjects.clicks),
  };
}

/** A stream that exists keeps its lanes: messages would be in a stream where nobody looks for them. */
function refuseOtherGroups(nats: Nats, group: number, info: StreamInfo | undefined): void {
  if (info === undefined) return;
  const { name, subjects } = ownStream(nats, group);
  const present = new Set(info.config.subjects ?? []);
  if (present.size === subjects.length && subjects.every((subject) => present.has(subject))) return;
  throw new Error(otherGroups(name, nats.groups));
}

function otherGroups(name: string, groups: number): string {
  return `The stream ${name} of LANE_GROUPS=${groups} does not fit the streams that NATS has: they were made with another LANE_GROUPS, which must stay. Set LANE_GROUPS as it was.`;
}

async function ensureStream(
  nats: Nats,
  {
    group,
    present,
    patience,
  }: {
    readonly group: number;
    readonly present: StreamInfo | undefined;
    readonly patience: Patience;
  },
): Promise<StreamState> {
  const manager = await nats.manager();
  const stream = ownStream(nats, group);
  if (present === undefined) return await createStream(nats, manager, { stream, patience });
  return await raiseStream(nats, manager, { stream, present: limitsOf(present), patience });
}

/** Repeats what a cluster refuses for want of servers with room, until they are known. */
type Patience = <T>(apply: () => Promise<T>) => Promise<T>;

/** One patience for all streams: when it is used up, everything is tried once. */
function patienceOf(nats: Nats): Patience {
  const untilMs = performance.now() + (isCluster(nats) ? ROOM_KNOWN_MS : 0);
  return async (apply) => {
    for (;;) {
      try {
        return await apply();
      } catch (error) {
        if (!isTooFew(error) || performance.now() >= untilMs) throw error;
        await sleep(ASK_AGAIN_MS);
      }
    }
  };
}

async function createStream(
  nats: Nats,
  manager: JetStreamManager,
  { stream, patience }: { readonly stream: OwnStream; readonly patience: Patience },
): Promise<StreamState> {
  const { bytes: bytesWanted, hours } = nats.streams;
  const compression = "s2" as const;
  const sizes = bytesWanted === undefined ? CLICKS_BYTES_MAX : [bytesWanted];
  const tries = replicasToTry(nats, 1).flatMap((replicas) =>
    sizes.map((bytes) => ({ replicas, hours, bytes: shareOf(bytes, nats.groups), compression })),
  );
  try {
    return await firstPossible(stream, tries, async (limits) => {
      const { File: storage } = StorageType;
      const { Limits: retention } = RetentionPolicy;
      const { name } = stream;
      const config = { ...configOf(stream, limits), name, storage, retention };
      return await patience(async () => await manager.streams.add(config));
    });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== SUBJECTS_OVERLAP) throw error;
    throw new Error(otherGroups(stream.name, nats.groups), { cause: error });
  }
}

async function raiseStream(
  nats: Nats,
  manager: JetStreamManager,
  {
    stream,
    present,
    patience,
  }: { readonly stream: OwnStream; readonly present: StreamLimits; readonly patience: Patience },
): Promise<StreamState> {
  const { bytes = 0, hours } = nats.streams;
  const least = replicasToTry(nats, present.replicas).at(-1) ?? 1;
  refuseImpossible(nats, stream, least, present.replicas);
  const raised = {
    hours: present.hours === 0 ? 0 : Math.max(present.hours, hours),
    bytes:
      present.bytes === NO_LIMIT ? NO_LIMIT : Math.max(present.bytes, shareOf(bytes, nats.groups)),
    compression: present.compression,
  };
  const tries = replicasToTry(nats, present.replicas).map((replicas) => ({ replicas, ...raised }));
  return await firstPossible(
    stream,
    tries,
    async (limits) =>
      await patience(
        async () => await manager.streams.update(stream.name, configOf(stream, limits)),
      ),
  );
}

/** Of CLICKS_STREAM_BYTES, which is for all streams together. */
export function shareOf(bytes: number, groups: number): number {
  return bytes === NO_LIMIT ? NO_LIMIT : Math.floor(bytes / groups);
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
  stream: OwnStream,
  tries: readonly StreamLimits[],
  apply: (limits: StreamLimits) => Promise<StreamInfo>,
): Promise<StreamState> {
  for (const [index, limits] of tries.entries()) {
    try {
      return stateOf(await apply(limits));
    } catch (error) {
      const isLast = index === tries.length - 1;
      if (isLast || !isTooLittle(error)) throw sentenceOf(error, stream, limits);
    }
  }
  throw new Error("no limits to try");
}

/** A server without a cluster takes any number of copies for a stream that exists, and makes none. */
function refuseImpossible(nats: Nats, { name }: OwnStream, wanted: number, present: number): void {
  if (wanted <= present || isCluster(nats)) return;
  throw new Error(tooFewServers(name, wanted));
}

function tooFewServers(name: string, replicas: number): string {
  return `NATS has too few servers, or too little room on them, for ${replicas} copies of the stream ${name}. Start the missing servers, or set NATS_REPLICAS or CLICKS_STREAM_BYTES lower.`;
}

function isTooLittle(error: unknown): boolean {
  return isTooFew(error) || (error instanceof JetStreamApiError && error.code === NO_ROOM);
}

function isTooFew(error: unknown): boolean {
  return error instanceof JetStreamApiError && TOO_FEW_SERVERS.includes(error.code);
}

function sentenceOf(
  error: unknown,
  { name }: OwnStream,
  { replicas, bytes }: StreamLimits,
): unknown {
  const silence = noAnswer(error, name);
  if (silence !== undefined) return silence;
  if (!(error instanceof JetStreamApiError)) return error;
  if (error.code === NO_ROOM) {
    const sentence = `NATS has no room for ${bytes} bytes of the stream ${name}. Enlarge max_file_store of NATS, or set CLICKS_STREAM_BYTES lower.`;
    return new Error(sentence, { cause: error });
  }
  if (!isTooFew(error)) return error;
  return new Error(tooFewServers(name, replicas), { cause: error });
}

/** The sentence for a cluster without a leader. */
function noAnswer(error: unknown, name: string): Error | undefined {
  if (!hasNoLeader(error)) return undefined;
  const sentence = `JetStream does not answer about the stream ${name}: most of its servers are away, or they elect a leader. Repeat it.`;
  return new Error(sentence, { cause: error });
}

function configOf({ subjects }: OwnStream, { replicas, hours, bytes, compression }: StreamLimits) {
  return {
    subjects: [...subjects],
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
