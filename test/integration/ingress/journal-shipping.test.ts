import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { encodeRecord } from "../../../ingress/encode-record.ts";
import { Journal } from "../../../ingress/journal/journal.ts";
import { JournalSegments } from "../../../ingress/journal/journal-segments.ts";
import { shipLeftovers } from "../../../ingress/journal/leftovers.ts";
import { endedSegmentPaths } from "../../../ingress/journal/segment-files.ts";
import { Shipper } from "../../../ingress/journal/shipper.ts";
import { WatermarkBook } from "../../../ingress/journal/watermarks.ts";
import { NatsLink } from "../../../ingress/nats-link.ts";
import type { Recorded } from "../../../ingress/route.ts";
import { decodeBatch, type Watermark } from "../../../schemas/events/click-batch.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { clicksStream, ensureStreams } from "../../../schemas/nats/streams.ts";
import { aClick } from "../../samples/a-click-record.ts";
import { until } from "../../system/until.ts";

const PRODUCER = 7;
const NONCE = "0123456789abcdef";
/** The producer number under which refused records are shipped again. */
const MOVED_TO = 8;
const SOLE_OWNER = {
  mayDeclareLost: (): boolean => true,
  allocate: (): Promise<number> => Promise.resolve(MOVED_TO),
};
const log = openLog({ process: "test", level: "silent" });
const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test("every journaled record reaches JetStream once and in order, in batches without a gap (P1)", async () => {
  const world = await openWorld();
  const ingress = openIngress(world, 1);
  await append(ingress.journal, 0, 1_000);
  await until("all are shipped", () => ingress.shipper.depth === 0, { timeoutMs: 10_000 });
  const received = await world.received(1, 0);
  expect(received.map(({ position }) => position)).toEqual(
    Array.from({ length: 1_000 }, (_, at) => at),
  );
  expect(new Set(received.map(({ line }) => line)).size).toBe(1_000);
});

test("records that JetStream loses after its acknowledgement are shipped again (P3)", async () => {
  const world = await openWorld();
  const ingress = openIngress(world, 1);
  await append(ingress.journal, 1, 300);
  await until("all are shipped", () => ingress.shipper.depth === 0, { timeoutMs: 10_000 });
  const manager = await world.nats.manager();
  await manager.streams.purge(clicksStream(world.nats));
  expect(await world.received(1, 1)).toEqual([]);
  world.publishMark({ lane: 1, producer: PRODUCER, epoch: 1, next: 300, missing: [[0, 300]] });
  const again = await until(
    "the lost records are there again",
    async () => {
      const received = await world.received(1, 1);
      return received.length >= 300 ? received : undefined;
    },
    { timeoutMs: 10_000 },
  );
  expect(again.map(({ position }) => position)).toEqual(Array.from({ length: 300 }, (_, at) => at));
});

test("leftovers of a killed process are shipped, a damaged frame is declared lost (P7)", async () => {
  const world = await openWorld();
  const killed = Journal.open({
    folder: world.folder,
    epoch: 1,
    segments: new JournalSegments(),
    sync: "none",
    reserveBytes: undefined,
    onTaken: () => undefined,
    onDiskFault: unexpected,
    onSyncFault: unexpected,
  });
  for (let number = 0; number < 20; number += 1) killed.append(click(number));
  const [segment = ""] = readdirSync(world.folder).filter((name) => name.endsWith(".wal"));
  const path = join(world.folder, segment);
  const bytes = readFileSync(path);
  // Behind the last record is reserved space, which holds zeros.
  const end = bytes.findLastIndex((byte) => byte !== 0);
  const middle = Math.floor(end / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
  const { book, link } = openLink(world);
  const abort = new AbortController();
  closers.push(() => abort.abort());
  const home = shipLeftovers({
    folder: world.folder,
    producer: PRODUCER,
    epoch: 2,
    link,
    book,
    signal: abort.signal,
    log,
    events: NO_EVENTS,
    ...SOLE_OWNER,
  });
  const lost = await until(
    "19 records and one declaration of loss are there",
    async () => {
      const received = await world.received(1, 0);
      const declared = await world.declaredLost(1, 0);
      return received.length === 19 && declared.length === 1 ? declared : undefined;
    },
    { timeoutMs: 15_000 },
  );
  const positions = new Set((await world.received(1, 0)).map(({ position }) => position));
  expect(positions.has(lost[0]?.[0] ?? -1)).toBe(false);
  expect(await endedSegmentPaths(world.folder, 2)).toHaveLength(1);
  world.publishMark({ lane: 0, producer: PRODUCER, epoch: 1, next: 20, missing: [] });
  await home;
  expect(await endedSegmentPaths(world.folder, 2)).toEqual([]);
});

test("a segment is kept until the writer has passed every record in it", async () => {
  const world = await openWorld();
  const ingress = openIngress(world, 1);
  await append(ingress.journal, 2, 10);
  const isPassed = (): boolean => {
    const [oldest] = ingress.segments.all;
    return [...(oldest?.lanes ?? [])].every(([lane, range]) =>
      ingress.book.hasPassed({ producer: PRODUCER, epoch: 1, nonce: NONCE, lane, ...range }),
    );
  };
  expect(isPassed()).toBe(false);
  ingress.book.take([{ lane: 2, producer: PRODUCER, epoch: 1, next: 9, missing: [] }]);
  expect(isPassed()).toBe(false);
  ingress.book.take([{ lane: 2, producer: PRODUCER, epoch: 1, next: 10, missing: [[3, 4]] }]);
  expect(isPassed()).toBe(false);
  ingress.book.take([{ lane: 2, producer: PRODUCER, epoch: 1, next: 10, missing: [] }]);
  expect(isPassed()).toBe(true);
});

test("records of an epoch that another process also used are shipped under another number (#7)", async () => {
  const world = await openWorld();
  let refusals = 0;
  const ingress = openIngress(world, 1, () => {
    refusals += 1;
  });
  await append(ingress.journal, 0, 30);
  await until("all are shipped", () => ingress.shipper.depth === 0, { timeoutMs: 10_000 });
  const foreign = { lane: 0, producer: PRODUCER, epoch: 1, next: 30, missing: [], nonce: "other" };
  ingress.book.take([foreign]);
  await until("the process is notified", () => refusals > 0, { timeoutMs: 10_000 });
  const records = { producer: PRODUCER, epoch: 1, lane: 0, first: 0, next: 30 };
  expect(ingress.book.hasPassed({ ...records, nonce: NONCE })).toBe(false);
  expect(ingress.book.hasPassed({ ...records, nonce: "other" })).toBe(true);
  await ingress.shipper.close(1_000);
  await ingress.journal.close();

  // The next start finds the records, under the nonce of the start that took them.
  writeFileSync(join(world.folder, "runs"), `1 ${NONCE}\n`);
  const abort = new AbortController();
  closers.push(() => abort.abort());
  const home = shipLeftovers({
    folder: world.folder,
    producer: PRODUCER,
    epoch: 2,
    link: ingress.link,
    book: ingress.book,
    signal: abort.signal,
    log,
    events: NO_EVENTS,
    ...SOLE_OWNER,
  });
  const isMoved = async (): Promise<boolean> =>
    (await world.batches())
      .filter(({ producer }) => producer === MOVED_TO)
      .flatMap(({ lines }) => lines).length === 30;
  await until("they are there under the new number", isMoved, { timeoutMs: 15_000 });
  expect(readFileSync(join(world.folder, "moved"), "utf8")).toBe(`1 ${MOVED_TO}\n`);
  expect(await endedSegmentPaths(world.folder, 2)).toHaveLength(1);
  ingress.book.take([{ ...foreign, producer: MOVED_TO, nonce: NONCE }]);
  expect(await home).toBe(true);
  expect(await endedSegmentPaths(world.folder, 2)).toEqual([]);
  const ended = (await world.batches()).filter(({ endedBefore }) => endedBefore === 2);
  expect(new Set(ended.map(({ producer }) => producer))).toEqual(new Set([MOVED_TO]));
});

test("records of a dead process that a new stream lacks are shipped again (#8)", async () => {
  const world = await openWorld();
  const killed = Journal.open({
    folder: world.folder,
    epoch: 1,
    segments: new JournalSegments(),
    sync: "none",
    reserveBytes: undefined,
    onTaken: () => undefined,
    onDiskFault: unexpected,
    onSyncFault: unexpected,
  });
  for (let number = 0; number < 600; number += 1) killed.append(click(number));
  const { book, link } = openLink(world);
  const abort = new AbortController();
  closers.push(() => abort.abort());
  const home = shipLeftovers({
    folder: world.folder,
    producer: PRODUCER,
    epoch: 2,
    link,
    book,
    signal: abort.signal,
    log,
    events: NO_EVENTS,
    ...SOLE_OWNER,
  });
  const isThere = async (): Promise<boolean> => (await world.received(1, 0)).length === 600;
  await until("all records are there", isThere, { timeoutMs: 15_000 });
  // A batch without lines follows: the end of the epoch, from which a writer knows which records it lacks.
  await until(
    "the end of the epoch is published",
    async () =>
      (await world.batches()).some(({ first, lines }) => first === 600 && lines.length === 0),
    { timeoutMs: 15_000 },
  );
  const manager = await world.nats.manager();
  await manager.streams.delete(clicksStream(world.nats));
  await ensureStreams(world.nats);
  await until("all records are there again", isThere, { timeoutMs: 30_000 });
  world.publishMark({ lane: 0, producer: PRODUCER, epoch: 1, next: 600, missing: [] });
  expect(await home).toBe(true);
}, 90_000);

const NO_EVENTS = {
  shipped: (): void => undefined,
  retried: (): void => undefined,
  lost: (): void => undefined,
  reshipped: (): void => undefined,
};

type Received = { readonly position: number; readonly line: string };
type World = {
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

async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "tracker-journal-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const prefix = randomUUID();
  const nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix });
  closers.push(() => nats.connection.close());
  await ensureStreams(nats);
  const read = async (): Promise<ReturnType<typeof decodeBatch>[]> => {
    const manager = await nats.manager();
    const stream = await manager.streams.get(clicksStream(nats));
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

function openLink(world: World): { link: NatsLink; book: WatermarkBook } {
  const link = new NatsLink({ url: inject("natsUrl"), name: "test", prefix: world.prefix }, log);
  const book = new WatermarkBook((error) => {
    throw error;
  });
  link.onConnection((nats) => book.follow(nats));
  link.start();
  closers.push(() => link.close());
  return { link, book };
}

function openIngress(
  world: World,
  epoch: number,
  onRefused = (): void => unexpected(new Error("refused")),
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
    onRefused,
    segments,
    book,
    log,
    events: NO_EVENTS,
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

/** Resolves when all records are durable. */
async function append(journal: Journal, lane: number, records: number): Promise<void> {
  for (let number = 0; number < records; number += 1) {
    const pending = journal.append({ ...click(number), lane });
    if (pending !== undefined) await new Promise<void>(pending);
  }
}

function click(number: number): Recorded {
  const line = encodeRecord(aClick({ sub1: `number-${number}` }));
  return { lane: 0, line };
}

function unexpected(...reported: readonly unknown[]): never {
  throw new Error("the disk failed", { cause: reported.at(-1) });
}
