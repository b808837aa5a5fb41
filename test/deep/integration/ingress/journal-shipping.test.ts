import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { endedSegmentPaths } from "../../../../ingress/journal/segment-files.ts";
import type { Watermark } from "../../../../schemas/events/click-batch.ts";
import { streamOfLane } from "../../../../schemas/nats/lane-groups.ts";
import { ensureStreams } from "../../../../schemas/nats/streams.ts";
import {
  append,
  closeWorlds,
  leaveJournal,
  MOVED_TO,
  NO_EVENTS,
  NONCE,
  openIngress,
  openWorld,
  PRODUCER,
  segmentIn,
  startLeftovers,
} from "../../../integration/ingress/journal-world.ts";
import { until } from "../../../system/until.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  await closeWorlds();
});

/** Longer than a record may be in JetStream without being stored. */
const LONG_MS = 130_000;

/** From now on the monotonic clock is this much ahead. */
function passTime(ms: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
}

test("every journaled record reaches JetStream once and in order, in batches without a gap (P1)", async () => {
  const world = await openWorld();
  const ingress = openIngress(world, 1);
  await append(ingress.journal, 0, 1_000);
  await until("all are shipped", () => ingress.shipper.depth === 0);
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
  await until("all are shipped", () => ingress.shipper.depth === 0);
  const manager = await world.nats.manager();
  await manager.streams.purge(streamOfLane(world.nats, 0));
  expect(await world.received(1, 1)).toEqual([]);
  world.publishMark({ lane: 1, producer: PRODUCER, epoch: 1, next: 300, missing: [[0, 300]] });
  const again = await until("the lost records are there again", async () => {
    const received = await world.received(1, 1);
    return received.length >= 300 ? received : undefined;
  });
  expect(again.map(({ position }) => position)).toEqual(Array.from({ length: 300 }, (_, at) => at));
});

test("what JetStream has and the disk never had is not declared lost because it is stored late (G266)", async () => {
  const world = await openWorld();
  const [lost, reshipped] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const ingress = openIngress(world, 1, {
    isDiskFull: true,
    events: { ...NO_EVENTS, lost, reshipped },
  });
  await append(ingress.journal, 0, 10);
  await until("all are shipped", () => ingress.shipper.depth === 0);
  const waiting: Watermark = { lane: 0, producer: PRODUCER, epoch: 1, next: 0, missing: [] };
  ingress.book.take([waiting]);
  await until("a tick has seen it", async () => await hasTicked());
  passTime(LONG_MS);
  ingress.book.take([waiting]);
  await until("it counts as stuck", () => reshipped.mock.calls.length > 0);
  expect(lost).not.toHaveBeenCalled();
  expect(await world.declaredLost(1, 0)).toEqual([]);
  // A writer that has read past them says so, and then they are lost.
  ingress.book.take([{ ...waiting, next: 10, missing: [[0, 10]] }]);
  await until("the loss is declared", () => lost.mock.calls.length > 0);
  expect(await world.declaredLost(1, 0)).toEqual([[0, 10]]);
});

test("after an outage of NATS nothing is shipped twice for the time that it lasted (G266)", async () => {
  const world = await openWorld();
  const reshipped = vi.fn<() => void>();
  const ingress = openIngress(world, 1, { events: { ...NO_EVENTS, reshipped } });
  const waiting: Watermark = { lane: 0, producer: PRODUCER, epoch: 1, next: 0, missing: [] };
  ingress.book.take([waiting]);
  passTime(LONG_MS);
  await append(ingress.journal, 0, 10);
  await until("all are shipped", () => ingress.shipper.depth === 0);
  ingress.book.take([waiting]);
  await until("a tick has seen it", async () => await hasTicked());
  await until("another one has", async () => await hasTicked());
  expect(reshipped).not.toHaveBeenCalled();
});

/** The shipper looks at the marks once a second. */
async function hasTicked(): Promise<boolean> {
  return await new Promise((resolve) => setTimeout(() => resolve(true), 1_200));
}

test("leftovers of a killed process are shipped, a damaged frame is declared lost (P7)", async () => {
  const world = await openWorld();
  leaveJournal(world.folder, 20);
  const path = segmentIn(world.folder);
  const bytes = readFileSync(path);
  // Behind the last record is reserved space, which holds zeros.
  const end = bytes.findLastIndex((byte) => byte !== 0);
  const middle = Math.floor(end / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
  const home = startLeftovers(world);
  const lost = await until("19 records and one declaration of loss are there", async () => {
    const received = await world.received(1, 0);
    const declared = await world.declaredLost(1, 0);
    return received.length === 19 && declared.length === 1 ? declared : undefined;
  });
  const positions = new Set((await world.received(1, 0)).map(({ position }) => position));
  expect(positions.has(lost[0]?.[0] ?? -1)).toBe(false);
  expect(await endedSegmentPaths(world.folder, 2)).toHaveLength(1);
  world.publishMark({ lane: 0, producer: PRODUCER, epoch: 1, next: 20, missing: [] });
  await home;
  expect(await endedSegmentPaths(world.folder, 2)).toEqual([]);
});

test("the end of a killed process is told in each lane that has its records, before the others have theirs", async () => {
  const world = await openWorld();
  leaveJournal(world.folder, 20, [0, 1]);
  const told: number[] = [];
  let isConfirmed = false;
  const home = startLeftovers(world, undefined, (lane) => {
    if (isConfirmed) told.push(lane);
    return isConfirmed;
  });
  const mark = (lane: number): void =>
    world.publishMark({ lane, producer: PRODUCER, epoch: 1, next: 20, missing: [] });
  await until("all are shipped", async () => (await world.received(1, 1)).length === 20, {
    timeoutMs: 90_000,
  });
  isConfirmed = true;
  await until("lanes without records are told", () => told.includes(100));
  expect(told).toEqual([2, 3, 100]);
  mark(0);
  await until("lane 0 is told", () => told.includes(0));
  expect(await endedSegmentPaths(world.folder, 2)).toHaveLength(1);
  mark(1);
  await home;
  expect(told).toEqual([2, 3, 100, 0, 1]);
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
  const ingress = openIngress(world, 1, {
    onRefused: () => {
      refusals += 1;
    },
  });
  await append(ingress.journal, 0, 30);
  await until("all are shipped", () => ingress.shipper.depth === 0);
  const foreign = { lane: 0, producer: PRODUCER, epoch: 1, next: 30, missing: [], nonce: "other" };
  ingress.book.take([foreign]);
  await until("the process is notified", () => refusals > 0);
  const records = { producer: PRODUCER, epoch: 1, lane: 0, first: 0, next: 30 };
  expect(ingress.book.hasPassed({ ...records, nonce: NONCE })).toBe(false);
  expect(ingress.book.hasPassed({ ...records, nonce: "other" })).toBe(true);
  await ingress.shipper.close(1_000);
  await ingress.journal.close();

  // The next start finds the records, under the nonce of the start that took them.
  writeFileSync(join(world.folder, "runs"), `1 ${NONCE}\n`);
  const home = startLeftovers(world, ingress);
  const isMoved = async (): Promise<boolean> =>
    (await world.batches())
      .filter(({ producer }) => producer === MOVED_TO)
      .flatMap(({ lines }) => lines).length === 30;
  await until("they are there under the new number", isMoved);
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
  leaveJournal(world.folder, 600);
  const home = startLeftovers(world);
  const isThere = async (): Promise<boolean> => (await world.received(1, 0)).length === 600;
  await until("all records are there", isThere);
  // A batch without lines follows: the end of the epoch, from which a writer knows which records it lacks.
  await until("the end of the epoch is published", async () =>
    (await world.batches()).some(({ first, lines }) => first === 600 && lines.length === 0),
  );
  const manager = await world.nats.manager();
  await manager.streams.delete(streamOfLane(world.nats, 0));
  await ensureStreams(world.nats);
  await until("all records are there again", isThere);
  world.publishMark({ lane: 0, producer: PRODUCER, epoch: 1, next: 600, missing: [] });
  expect(await home).toBe(true);
}, 90_000);
