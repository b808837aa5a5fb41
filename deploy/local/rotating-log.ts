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

/** Bytes after which a log file is moved to `<name>.1`; one older file is kept, so a log never takes more than twice this. */
export const LOG_FILE_BYTES_MAX = 20 * 1024 * 1024;

/**
 * A log file of bounded size. A write that fails (disk full) is not thrown, because the log must not end what it
 * describes: it is counted in `lostWrites`, and `onFirstLoss` is called once.
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
