import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "./write-durably.ts";

/** One start of a process on a journal folder. */
export type JournalRun = {
  readonly epoch: number;
  /** Random: distinguishes this start from any other with the same producer number and epoch. */
  readonly nonce: string;
};

const RUNS_FILE = "runs";
/** Starts that a folder remembers, in addition to the starts that still have records in it. */
const RUNS_KEPT_MAX = 100;
const RUN_LINE = /^(\d{1,15}) ([0-9a-f]{1,32})$/;
const NONCE_BYTES = 8;
/**
 * Epochs are at least the seconds since this instant, so that two copies of a folder rarely reach the same one. The count does
 * not begin in 1970, because releases before this one read epochs of at most nine digits.
 */
const EPOCH_ZERO_MS = Date.UTC(2020, 0, 1);

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString("hex");
}

/** The starts of a folder, oldest first; empty when the file is missing or damaged, or the last release did not write it. */
export function readRuns(folder: string): JournalRun[] {
  const file = join(folder, RUNS_FILE);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const match = RUN_LINE.exec(line);
      return match === null ? [] : [{ epoch: Number(match[1]), nonce: match[2] ?? "" }];
    });
}

/**
 * Begins an epoch above all epochs that the folder has used, durably, before its first record. `used.epochs` are further used epochs. The
 * epochs in `used.withSegments` still have records, so their nonces are kept.
 */
export function beginRun(
  folder: string,
  used: { readonly epochs: readonly number[]; readonly withSegments: ReadonlySet<number> },
  nowMs: number,
): JournalRun {
  const runs = readRuns(folder);
  const last = Math.max(0, ...used.epochs, ...runs.map(({ epoch }) => epoch));
  const seconds = Math.floor((nowMs - EPOCH_ZERO_MS) / 1_000);
  const run: JournalRun = { epoch: Math.max(last + 1, seconds), nonce: newNonce() };
  const recent = runs.length - RUNS_KEPT_MAX;
  const kept = runs.filter(({ epoch }, index) => index >= recent || used.withSegments.has(epoch));
  const lines = [...kept, run].map(({ epoch, nonce }) => `${epoch} ${nonce}\n`);
  writeDurably(join(folder, RUNS_FILE), lines.join(""));
  return run;
}
