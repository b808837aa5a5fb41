import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { encodeRecord } from "../../../ingress/encode-record.ts";
import { Journal } from "../../../ingress/journal/journal.ts";
import { JournalSegments } from "../../../ingress/journal/journal-segments.ts";
import { untilLeftoversAreShipped } from "../../../ingress/journal/leftovers.ts";
import { Shipper, type ShipperEvents } from "../../../ingress/journal/shipper.ts";
import { WatermarkBook } from "../../../ingress/journal/watermarks.ts";
import type { Recorded } from "../../../ingress/route.ts";
import { decodeBatch, type Watermark } from "../../../schemas/events/click-batch.ts";
import { fixedLanes } from "../../../schemas/events/lane-source.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { streamOfLane } from "../../../schemas/nats/lane-groups.ts";
import { NatsLink } from "../../../schemas/nats/nats-link.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import { aClick } from "../../samples/a-click-record.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";

export const PRODUCER = 7;
export const NONCE = "0123456789abcdef";
/** The producer number under which refused records are shipped again. */
export const MOVED_TO = 8;
export const SOLE_OWNER = {
  mayDeclareLost: (): boolean => true,
  allocate: (): Promise<number> => Promise.resolve(MOVED_TO),
};
export const log = openLog({ process: "test", level: "silent" });
const closers: (() => Promise<void> | void)[] = [];

/** Call after each test. */
export async function closeWorlds(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export const NO_EVENTS = {
  shipped: (): void => undefined,
  published: (): void => undefined,
  retried: (): void => undefined,
  lost: (): void => undefined,
  reshipped: (): void => undefined,
};

type Received = { readonly position: number; readonly line: string };
export type World = {
  readonly folder: string;
  readonly nats: Nats;
  readonly prefix: string;
  /** Records of an epoch and lane in the stream, without repeats. */
  received(epoch: number, lane: number): Promise<Received[]>;
  /** All batches of the stream, in order. */
  batches(): Promise<ReturnType<typeof decodeBatch>[]>;
  declaredLost(epoch: number, lane: number): Promise<[number, number][]>;
  publishMark(mark: Watermark): void;
};

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "tracker-journal-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const prefix = randomUUID();
  const nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix });
  closers.push(() => nats.connection.close());
  await ensureStreams(nats);
  const read = async (): Promise<ReturnType<typeof decodeBatch>[]> => {
    const manager = await nats.manager();
    const stream = await manager.streams.get(streamOfLane(nats, 0));
    const { state } = await stream.info();
    const batches = [];
    for (let seq = state.first_seq; seq > 0 && seq <= state.last_seq; seq += 1) {
      const message = await stream.getMessage({ seq });
      if (message !== null) batches.push(decodeBatch(message.data));
    }
    return batches;
  };
  return {
    folder,
    nats,
    prefix,
    batches: read,
    received: async (epoch, lane) => {
      const byPosition = new Map<number, string>();
      for (const batch of await read()) {
        if (batch.epoch !== epoch || batch.lane !== lane) continue;
        for (const [index, line] of batch.lines.entries())
          byPosition.set(batch.first + index, line);
      }
      return [...byPosition]
        .sort(([a], [b]) => a - b)
        .map(([position, line]) => ({ position, line }));
    },
    declaredLost: async (epoch, lane) =>
      (await read())
        .filter((batch) => batch.epoch === epoch && batch.lane === lane)
        .flatMap(({ lostFrom, first }): [number, number][] =>
          lostFrom === undefined ? [] : [[lostFrom, first]],
        ),
    publishMark: (mark) => nats.connection.publish(nats.subjects.watermark, JSON.stringify([mark])),
  };
}

export function openLink(world: World): { link: NatsLink; book: WatermarkBook } {
  const link = new NatsLink({ url: inject("natsUrl"), name: "test", prefix: world.prefix }, log);
  const book = new WatermarkBook((error) => {
    throw error;
  });
  link.onConnection((nats) => book.follow(nats));
  void link.start();
  closers.push(() => link.close());
  return { link, book };
}

export function openIngress(
  world: World,
  epoch: number,
  {
    onRefused = (): void => unexpected(new Error("refused")),
    events = NO_EVENTS,
    isDiskFull = false,
  }: {
    onRefused?: () => void;
    events?: ShipperEvents;
    /** The shipper finds no record in a segment. */
    isDiskFull?: boolean;
  } = {},
): {
  journal: Journal;
  segments: JournalSegments;
  shipper: Shipper;
  book: WatermarkBook;
  link: NatsLink;
} {
  const { link, book } = openLink(world);
  const segments = new JournalSegments();
  const shipper = new Shipper({
    link,
    run: { producer: PRODUCER, epoch, nonce: NONCE },
    lanes: fixedLanes(FOUR_LANES),
    onRefused,
    segments: isDiskFull ? new JournalSegments() : segments,
    book,
    log,
    events,
    nowMs: () => Date.now(),
  });
  const journal = Journal.open({
    folder: world.folder,
    epoch,
    segments,
    sync: "interval",
    reserveBytes: undefined,
    onTaken: (position, frame) => shipper.take(position, frame),
    onDiskFault: unexpected,
    onSyncFault: unexpected,
  });
  shipper.start();
  closers.push(() => journal.close());
  closers.push(() => shipper.close(1_000));
  return { journal, segments, shipper, book, link };
}

/** Records in the journal of a killed process: as many in each of these lanes. */
export function leaveJournal(
  folder: string,
  records: number,
  lanes: readonly number[] = [0],
): void {
  const killed = Journal.open({
    folder,
    epoch: 1,
    segments: new JournalSegments(),
    sync: "none",
    reserveBytes: undefined,
    onTaken: () => undefined,
    onDiskFault: unexpected,
    onSyncFault: unexpected,
  });
  for (const lane of lanes)
    for (let number = 0; number < records; number += 1) killed.append({ ...click(number), lane });
}

export function startLeftovers(
  world: World,
  { link, book } = openLink(world),
  onLaneStored: (lane: number) => boolean = () => true,
): Promise<boolean> {
  const abort = new AbortController();
  closers.push(() => abort.abort());
  return untilLeftoversAreShipped({
    onLaneStored,
    folder: world.folder,
    producer: PRODUCER,
    epoch: 2,
    link,
    lanes: fixedLanes(FOUR_LANES),
    book,
    signal: abort.signal,
    log,
    events: NO_EVENTS,
    ...SOLE_OWNER,
  });
}

export function segmentIn(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".wal")) ?? "");
}

/** Resolves when all records are durable. */
export async function append(journal: Journal, lane: number, records: number): Promise<void> {
  for (let number = 0; number < records; number += 1) {
    const pending = journal.append({ ...click(number), lane });
    if (pending !== undefined) await new Promise<void>(pending);
  }
}

function click(number: number): Recorded {
  const line = encodeRecord(aClick({ sub1: `number-${number}` }));
  return { lane: 0, line };
}

export function unexpected(...reported: readonly unknown[]): never {
  throw new Error("the disk failed", { cause: reported.at(-1) });
}
