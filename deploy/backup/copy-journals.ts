import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Files that a start makes again, and the lock of the running process. */
const NOT_COPIED = new Set(["lock", "catalog.ndjson", "click-state.ndjson"]);
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Copies the journals of running ingress processes. The copy has every record that was written before this was called, except records in
 * segments that were removed meanwhile, which are in ClickHouse. A later record is in the copy completely or not at all; if it is, the later
 * records before it are, too.
 */
export function copyJournals(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true, mode: PRIVATE_FOLDER });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyJournals(source, target);
    else if (entry.isFile() && !NOT_COPIED.has(entry.name)) copyGrowing(source, target);
  }
}

/**
 * Reads the file twice. Bytes that differ were being written in between: from the first of them on, the copy has zeros, like a journal after
 * a power cut. Otherwise a half-written record could be followed by later bytes, and the copy would look whole.
 */
function copyGrowing(source: string, target: string): void {
  const first = readIfThere(source);
  const second = readIfThere(source);
  if (first === undefined || second === undefined) return;
  const kept = first.subarray(0, Math.min(first.length, second.length));
  const stable = firstDifference(kept, second);
  kept.fill(0, stable);
  writeFileSync(target, kept, { mode: PRIVATE_FILE, flag: "wx" });
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    // The ingress has removed the segment, because ClickHouse has all of its records.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const BLOCK = 65_536;

/** Index of the first byte that differs; the length of `a` if none does. `b` is at least as long. */
function firstDifference(a: Buffer, b: Buffer): number {
  for (let from = 0; from < a.length; from += BLOCK) {
    const to = Math.min(a.length, from + BLOCK);
    if (a.compare(b, from, to, from, to) === 0) continue;
    let at = from;
    while (a[at] === b[at]) at += 1;
    return at;
  }
  return a.length;
}
