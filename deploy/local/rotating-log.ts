import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/** At this size, a log file is renamed to `<name>.1`, which replaces the older one. So a log takes at most twice this size. */
export const LOG_FILE_BYTES_MAX = 20 * 1024 * 1024;

/**
 * A log file of bounded size. A failed write (disk full) does not throw, because the log must not stop the process: it is counted in
 * `lostWrites`, and `onFirstLoss` is called once.
 */
export class RotatingLog {
  readonly #file: string;
  readonly #bytesMax: number;
  readonly #onFirstLoss: (cause: Error) => void;
  #bytes: number;
  #lostWrites = 0;

  constructor(file: string, onFirstLoss: (cause: Error) => void, bytesMax = LOG_FILE_BYTES_MAX) {
    mkdirSync(dirname(file), { recursive: true });
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#onFirstLoss = onFirstLoss;
    this.#bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  }

  get lostWrites(): number {
    return this.#lostWrites;
  }

  write(chunk: Uint8Array | string): void {
    try {
      if (this.#bytes >= this.#bytesMax) {
        renameSync(this.#file, `${this.#file}.1`);
        this.#bytes = 0;
      }
      appendFileSync(this.#file, chunk, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(chunk);
    } catch (error) {
      this.#lostWrites += 1;
      if (this.#lostWrites === 1) {
        this.#onFirstLoss(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}

const BYTES_MAX = 64 * 1024;

/**
 * Remembers the current length of a log. The returned function reads what was added since, at most the last 64 KiB. For programs that write
 * their own log and report there, not on their output, why they did not start.
 */
export function logSince(file: string): () => string {
  const startByte = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return () => {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return "";
    const descriptor = openSync(file, "r");
    try {
      const { size } = fstatSync(descriptor);
      // A smaller file means that the log was rotated.
      const from = Math.max(size < startByte ? 0 : startByte, size - BYTES_MAX);
      const bytes = Buffer.alloc(size - from);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, from));
    } finally {
      closeSync(descriptor);
    }
  };
}
