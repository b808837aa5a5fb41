import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const BYTES_MAX = 64 * 1024;

/**
 * Remembers how long a log is now; the answered function reads what a program has added since, at most its last 64 KiB.
 * For programs that write their log themselves: why one did not start is said there and not on its output.
 */
export function logSince(file: string): () => string {
  const startByte = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return () => {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return "";
    const descriptor = openSync(file, "r");
    try {
      const { size } = fstatSync(descriptor);
      // A smaller file is a new one: the log was rotated.
      const from = Math.max(size < startByte ? 0 : startByte, size - BYTES_MAX);
      const bytes = Buffer.alloc(size - from);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, from));
    } finally {
      closeSync(descriptor);
    }
  };
}
