import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLog } from "../../schemas/host/log.ts";
import type { FolderNumber } from "./allocate-producer.ts";
import { readRuns } from "./journal-run.ts";
import { leaveNumber } from "./leave-number.ts";
import {
  makeProducerFolder,
  producersIn,
  retireFolder,
  takeProducerFolder,
  tryToTake,
} from "./producer-folder.ts";

let journal: string;
let numbers: number;

beforeEach(() => {
  journal = mkdtempSync(join(tmpdir(), "tracker-folder-"));
  numbers = 0;
});
afterEach(() => rmSync(journal, { recursive: true, force: true }));

function allocate(): Promise<FolderNumber> {
  numbers += 1;
  return Promise.resolve({ producer: numbers, lastEpoch: 0 });
}

async function start(path = journal): Promise<{ producer: number; epoch: number; nonce: string }> {
  const folder = await takeProducerFolder(path, allocate);
  await folder.release();
  const { producer, epoch, nonce } = folder;
  return { producer, epoch, nonce };
}

test("every start of a folder has an epoch above all before it, and a nonce that the folder keeps (#7)", async () => {
  const first = await start();
  const second = await start();
  expect(second.epoch).toBeGreaterThan(first.epoch);
  // Seconds since 2020, in nine digits: releases before this one read no more.
  expect(String(first.epoch)).toMatch(/^\d{9}$/);
  expect(readRuns(join(journal, "1"))).toEqual([
    { epoch: first.epoch, nonce: first.nonce },
    { epoch: second.epoch, nonce: second.nonce },
  ]);
  expect(first.nonce).not.toBe(second.nonce);
});

test("epochs continue above those of an earlier release and of a damaged epoch file (#7, P39)", async () => {
  const { epoch } = await start();
  writeFileSync(join(journal, "1", "epoch"), String(epoch + 1_000));
  expect((await start()).epoch).toBe(epoch + 1_001);
  writeFileSync(join(journal, "1", "epoch"), "damaged");
  expect((await start()).epoch).toBe(epoch + 1_002);
  rmSync(join(journal, "1", "runs"));
  writeFileSync(join(journal, "1", `${epoch + 5_000}-000001.wal`), "");
  expect((await start()).epoch).toBe(epoch + 5_001);
});

test("epochs of a number that had an earlier holder begin above those, also after a start without its file", async () => {
  const ahead = Math.floor(Date.now() / 1_000) + 1_000_000;
  await makeProducerFolder(journal, (_claim, { besides }) => {
    expect(besides).toEqual([]);
    return Promise.resolve({ producer: 9, lastEpoch: ahead });
  });
  expect(await start()).toMatchObject({ producer: 9, epoch: ahead + 1 });
  rmSync(join(journal, "9", "epoch"));
  expect(await start()).toMatchObject({ producer: 9, epoch: ahead + 2 });
  await makeProducerFolder(journal, (_claim, { besides }) => {
    expect(besides).toEqual([9]);
    return allocate();
  });
});

test("two copies of a folder that start in the same second differ by their nonces (#7)", async () => {
  await start();
  const copy = mkdtempSync(join(tmpdir(), "tracker-folder-"));
  cpSync(journal, copy, { recursive: true });
  const [one, other] = [await start(), await start(copy)];
  expect(one.nonce).not.toBe(other.nonce);
  rmSync(copy, { recursive: true, force: true });
});

test("a retired folder takes no new records, and keeps its last epoch for what is in it (#7)", async () => {
  const { producer, epoch, nonce } = await start();
  retireFolder(join(journal, String(producer)), "the number was given to another journal folder");
  expect((await start()).producer).toBe(2);
  const folder = await tryToTake(journal, producer);
  expect(folder).toMatchObject({ producer, epoch, nonce });
  await folder?.release();
});

test("a journal that takes no folder uses up no producer number (P2)", async () => {
  const file = join(journal, "file");
  writeFileSync(file, "");
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await expect(makeProducerFolder(join(file, "journal"), allocate)).rejects.toThrow("ENOTDIR");
  }
  expect(numbers).toBe(0);
});

test("a new folder appears with its nonce, and a failed attempt leaves nothing behind (#7)", async () => {
  await expect(
    makeProducerFolder(journal, () => Promise.reject(new Error("away"))),
  ).rejects.toThrow("away");
  expect(readdirSync(journal)).toEqual([]);
  let claimed = "";
  const producer = await makeProducerFolder(journal, (claim) => {
    claimed = claim;
    expect(producersIn(journal)).toEqual([]);
    const drafts = readdirSync(journal).map((name) => join(journal, name, "nonce"));
    expect(drafts.map((nonce) => readFileSync(nonce, "utf8"))).toEqual([claim]);
    return allocate();
  });
  expect(readFileSync(join(journal, String(producer), "nonce"), "utf8")).toBe(claimed);
  expect(readdirSync(journal)).toEqual([String(producer)]);
});

test("a process that cannot retire its folder yet asks for one number only (#7)", async () => {
  const folder = await takeProducerFolder(journal, allocate);
  const obstacle = join(folder.path, "retired.new");
  mkdirSync(obstacle);
  const log = openLog({ process: "test", level: "silent" });
  const signal = AbortSignal.timeout(10_000);
  const left = leaveNumber(folder, "taken", { journalPath: journal, allocate, log, signal });
  await expect.poll(() => producersIn(journal)).toEqual([1, 2]);
  rmdirSync(obstacle);
  await left;
  expect(numbers).toBe(2);
  await folder.release();
});

test("a folder whose files could not be written can be taken at the next attempt (P2)", async () => {
  const { producer } = await start();
  const obstacle = join(journal, String(producer), "runs.new");
  mkdirSync(obstacle);
  await expect(tryToTake(journal, producer)).rejects.toThrow("EISDIR");
  rmdirSync(obstacle);
  const folder = await tryToTake(journal, producer);
  expect(folder?.producer).toBe(producer);
  await folder?.release();
});

test("a folder whose maker was killed is removed after an hour, and a younger one is left alone (#7)", async () => {
  const [old, young] = ["new-old", "new-young"].map((name) => join(journal, name));
  for (const path of [old, young]) mkdirSync(path ?? "");
  const twoHoursAgo = Date.now() / 1_000 - 7_200;
  utimesSync(old ?? "", twoHoursAgo, twoHoursAgo);
  await makeProducerFolder(journal, allocate);
  expect(readdirSync(journal).toSorted()).toEqual(["1", "new-young"]);
});
