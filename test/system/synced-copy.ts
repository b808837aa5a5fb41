/**
 * Preloaded into an ingress (`node --import`). Keeps in SYNCED_COPY what a power cut would leave of its journal: a byte once a
 * `fdatasync` that began after the byte was written has ended, and a file once its folder was synced. A real disk may keep more,
 * never less. SYNCED_COPY/waits gets a line for each stall of the event loop and each sync: UTC ms, `stall` or `sync`, length in ms.
 * SYNCED_COPY/last has two numbers of 8 bytes, little endian, in UTC ms: when the event loop last ran, and when the sync that has not
 * ended began, or 0.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";

const target = process.env["SYNCED_COPY"] ?? "";
const CHUNK_BYTES = 1024 ** 2;
const STALL_LOOK_MS = 2;
const WAIT_MS_MIN = 5;

fs.mkdirSync(target, { recursive: true });
const waits = fs.openSync(join(target, "waits"), "a");
const last = fs.openSync(join(target, "last"), "w");
const lastTimes = new Float64Array(2);

function writeLast(): void {
  fs.writeSync(last, lastTimes, 0, lastTimes.byteLength, 0);
}

/** Records a time in which the process could not run, or waited for its disk. */
function note(what: "stall" | "sync", ms: number): void {
  if (ms > WAIT_MS_MIN) fs.writeSync(waits, `${Date.now()} ${what} ${Math.ceil(ms)}\n`);
}

type Done = (error: NodeJS.ErrnoException | null) => void;

/** How far each segment was copied. Beyond the written part a segment reads as zeros. */
const copiedTo = new Map<string, number>();
const namesOnDisk = new Set<string>();
const [fdatasync, fsync] = [fs.fdatasync, fs.fsync];

function pathOf(descriptor: number): string {
  return fs.readlinkSync(`/proc/self/fd/${descriptor}`);
}

/** The bytes written since the last copy, without the zeros after them. */
function newBytes(descriptor: number, from: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = from; ; at += CHUNK_BYTES) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const length = fs.readSync(descriptor, chunk, 0, CHUNK_BYTES, at);
    const used = chunk.subarray(0, length).findLastIndex((byte) => byte !== 0) + 1;
    chunks.push(chunk.subarray(0, used < length ? used : length));
    if (used < CHUNK_BYTES) return Buffer.concat(chunks);
  }
}

function copyOf(path: string): string {
  const folder = join(target, basename(dirname(path)));
  fs.mkdirSync(folder, { recursive: true });
  return join(folder, basename(path));
}

function keep(path: string, from: number, bytes: Buffer): void {
  if (!namesOnDisk.has(path)) return;
  const copy = fs.openSync(copyOf(path), from === 0 ? "w" : "r+");
  fs.writeSync(copy, bytes, 0, bytes.length, from);
  fs.closeSync(copy);
  copiedTo.set(path, from + bytes.length);
}

fs.fdatasync = Object.assign(
  (descriptor: number, done: Done): void => {
    const path = pathOf(descriptor);
    if (!path.endsWith(".wal")) {
      fdatasync(descriptor, done);
      return;
    }
    const from = copiedTo.get(path) ?? 0;
    const bytes = newBytes(descriptor, from);
    const beganMs = performance.now();
    lastTimes[1] = Date.now();
    writeLast();
    fdatasync(descriptor, (error) => {
      note("sync", performance.now() - beganMs);
      lastTimes[1] = 0;
      writeLast();
      if (error === null) keep(path, from, bytes);
      done(error);
    });
  },
  { __promisify__: fdatasync.__promisify__ },
);
fs.fsync = Object.assign(
  (descriptor: number, done: Done): void => {
    const folder = pathOf(descriptor);
    const names = fs.statSync(folder).isDirectory() ? fs.readdirSync(folder) : [];
    fsync(descriptor, (error) => {
      if (error === null) for (const name of names) namesOnDisk.add(join(folder, name));
      done(error);
    });
  },
  { __promisify__: fsync.__promisify__ },
);
syncBuiltinESMExports();

let lastLookMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  note("stall", nowMs - lastLookMs);
  lastLookMs = nowMs;
  lastTimes[0] = Date.now();
  writeLast();
}, STALL_LOOK_MS).unref();
