import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { adoptOrphans } from "../../../../ingress/journal/adopt.ts";
import { endedSegmentPaths } from "../../../../ingress/journal/segment-files.ts";
import { fixedLanes } from "../../../../schemas/events/lane-source.ts";
import {
  append,
  closeWorlds,
  leaveJournal,
  log,
  NO_EVENTS,
  openIngress,
  openLink,
  openWorld,
  PRODUCER,
  SOLE_OWNER,
  segmentIn,
  startLeftovers,
  unexpected,
} from "../../../integration/ingress/journal-world.ts";
import { FOUR_LANES } from "../../../samples/four-lanes.ts";
import { until } from "../../../system/until.ts";

/** More than the memory of a lane holds: the first of them are read from the journal. */
const EVICTING = 26_000;

afterEach(closeWorlds);

test("an unreadable segment delays no other, and none of its records is declared lost (P1)", async () => {
  const world = await openWorld();
  leaveJournal(world.folder, 20);
  const unreadable = join(world.folder, "1-000002.wal");
  mkdirSync(unreadable);
  const warned = vi.spyOn(log, "warn");
  const home = startLeftovers(world);
  const isThere = async (): Promise<boolean> => (await world.received(1, 0)).length === 20;
  await until("the good segment is shipped", isThere);
  const mark = { lane: 0, producer: PRODUCER, epoch: 1, next: 30 };
  world.publishMark({ ...mark, missing: [[20, 30]] });
  const hasFailed = (): boolean =>
    warned.mock.calls.some((call) => call.includes("journal.leftovers-failed"));
  await until("the other segment is tried again", hasFailed);
  expect(await world.declaredLost(1, 0)).toEqual([]);
  expect(await endedSegmentPaths(world.folder, 2)).toHaveLength(2);
  // An operator removes it.
  rmdirSync(unreadable);
  const isDeclared = async (): Promise<boolean> => (await world.declaredLost(1, 0)).length > 0;
  await until("its records are declared lost", isDeclared);
  world.publishMark({ ...mark, missing: [] });
  expect(await home).toBe(true);
  expect(await endedSegmentPaths(world.folder, 2)).toEqual([]);
}, 60_000);

test("a journal folder that cannot be listed does not end the search for dead processes (P1)", async () => {
  const world = await openWorld();
  const abort = new AbortController();
  const logged = vi.spyOn(log, "error");
  const adoption = adoptOrphans({
    ...openLink(world),
    ...SOLE_OWNER,
    lanes: fixedLanes(FOUR_LANES),
    journalPath: join(world.folder, "nowhere"),
    ownProducer: PRODUCER,
    signal: abort.signal,
    log,
    events: NO_EVENTS,
    others: { isIn: () => false, takeFrom: unexpected },
    claim: unexpected,
  });
  const hasFailed = (): boolean =>
    logged.mock.calls.some((call) => call.includes("journal.adoption-failed"));
  await Promise.race([adoption, until("it has looked", hasFailed)]);
  abort.abort();
  await expect(adoption).resolves.toBeUndefined();
}, 30_000);

test("a journal that cannot be read for a moment delays its records and ends nothing (P1)", async () => {
  const world = await openWorld();
  const retried = vi.fn<(error: unknown) => void>();
  const ingress = openIngress(world, 1, { events: { ...NO_EVENTS, retried } });
  await append(ingress.journal, 0, EVICTING);
  const segment = segmentIn(world.folder);
  renameSync(segment, `${segment}.away`);
  await until("it was read", () => retried.mock.calls.length > 0);
  renameSync(`${segment}.away`, segment);
  await until("all are shipped", () => ingress.shipper.depth === 0);
  expect(await world.received(1, 0)).toHaveLength(EVICTING);
}, 60_000);

test("a record that neither memory nor the journal has is counted once, the others are shipped (P6)", async () => {
  const world = await openWorld();
  let lost = 0;
  const events = { ...NO_EVENTS, lost: (records: number): number => (lost += records) };
  const ingress = openIngress(world, 1, { events });
  await append(ingress.journal, 0, EVICTING);
  const path = segmentIn(world.folder);
  const file = openSync(path, "r+");
  writeSync(file, "damage", readFileSync(path).indexOf("number-1000"));
  closeSync(file);
  await until("all are shipped", () => ingress.shipper.depth === 0);
  expect(await world.received(1, 0)).toHaveLength(EVICTING - 1);
  expect(await world.declaredLost(1, 0)).toEqual([[1_000, 1_001]]);
  expect(lost).toBe(1);
}, 60_000);
