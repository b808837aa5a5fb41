import { closeSync, fstatSync, openSync, write } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The share of answers without an error that have a line; errors always have one. */
export type AccessShare = number;

/** One answered request. No address, no query, no path as sent (P31). */
export type AccessEntry = {
  /** UTC, milliseconds since 1970. */
  readonly atMs: number;
  readonly requestId: string;
  readonly method: string;
  /** A pattern of ours, such as `/r/:offer/:affiliate`. */
  readonly route: string;
  readonly status: number;
  readonly tookUs: number;
  /** Of the body. */
  readonly bytes: number;
  /** As sent: left out unless it has the form of a host. */
  readonly host: string;
  readonly clickId: string;
  /** One of our words. */
  readonly reason: string;
};

export type AccessLogEvents = {
  /** Lines that found no room, or that could not be written. */
  dropped(lines: number): void;
  failed(error: unknown): void;
};

export type AccessLogOptions = {
  readonly role: "ingress" | "api";
  readonly share: AccessShare;
  /** Undefined: standard output. */
  readonly file: string | undefined;
  readonly events: AccessLogEvents;
};

/** A write begins when so many characters wait, and one second after the first. */
const WRITE_CHARACTERS = 64 * 1024;
const WRITE_AFTER_MS = 1_000;
/** Characters that may wait while a write is under way. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;
/** The kernel writes at most this many bytes to a pipe without other writers in between (PIPE_BUF). */
const PIPE_BYTES_MAX = 4096;
const FULL_PIPE_WAIT_MS = 20;
const CLOSE_MS = 2_000;
const FIRST_ERROR = 400;
const NEW_LINE = 0x0a;
const STANDARD_OUTPUT = 1;
const FILE_MODE = 0o640;

const METHOD = /^[A-Z]{1,16}$/;
const HOST = /^[\w.:[\]-]{1,255}$/;
const PLAIN = /^[\w.,: ;/-]*$/;
const REASON_LENGTH_MAX = 100;
const NO_REASON = '","reason":""}\n';

/**
 * Access log: JSON lines, gathered in memory and written in the background. It never waits for its reader: lines that find no room are
 * counted as dropped. A file is opened for appending, so it may be copied and truncated, or renamed before `reopen`.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #head: string;
  #descriptor: number;
  #isFile: boolean;
  #text = "";
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #mustReopen = false;
  #isClosed = false;
  #time = { atMs: 0, text: "" };
  #what = { method: "", route: "", status: 0, text: "" };
  #where = { host: "", bytes: -1, text: "" };

  private constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#head = `","role":"${options.role}","rid":"`;
    this.#descriptor = openDescriptor(options.file);
    this.#isFile = fstatSync(this.#descriptor).isFile();
  }

  /** @throws if the file cannot be opened. */
  static open(options: AccessLogOptions): AccessLog {
    return new AccessLog(options);
  }

  /** Whether an answer with this status gets a line. */
  wants(status: number): boolean {
    const { share } = this.#options;
    return status >= FIRST_ERROR || share === 1 || (share > 0 && Math.random() < share);
  }

  note(entry: AccessEntry): void {
    if (this.#text.length > WAITING_CHARACTERS_MAX || this.#isClosed) {
      this.#options.events.dropped(1);
      return;
    }
    this.#text += this.#lineOf(entry);
    if (this.#text.length >= WRITE_CHARACTERS) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
  }

  /** Opens the file again, which something else has renamed. Standard output stays as it is. */
  reopen(): void {
    if (this.#options.file === undefined) return;
    this.#mustReopen = true;
    this.#write();
  }

  /** Writes what waits, for at most two seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const late = sleep(CLOSE_MS, "late" as const, { ref: false });
    while (this.#text !== "" || this.#writing !== undefined) {
      this.#write();
      if ((await Promise.race([this.#writing, late])) === "late") return;
    }
    if (this.#options.file !== undefined) closeSync(this.#descriptor);
  }

  #lineOf(entry: AccessEntry): string {
    const { requestId, tookUs, clickId, reason } = entry;
    return (
      `{"t":"${this.#timeOf(entry.atMs)}${this.#head}${requestId}${this.#whatOf(entry)}${tookUs}` +
      `${this.#whereOf(entry)}${clickId}${reason === "" ? NO_REASON : `","reason":${quoted(reason)}}\n`}`
    );
  }

  /** Requests of the same millisecond share their text. */
  #timeOf(atMs: number): string {
    if (atMs !== this.#time.atMs) this.#time = { atMs, text: new Date(atMs).toISOString() };
    return this.#time.text;
  }

  /** Nearly all requests are like the one before: the same path, answered alike, on the same host. */
  #whatOf({ method, route, status }: AccessEntry): string {
    const last = this.#what;
    if (last.route === route && last.status === status && last.method === method) return last.text;
    const shown = METHOD.test(method) ? method : "";
    const text = `","m":"${shown}","route":"${route}","status":${status},"us":`;
    this.#what = { method, route, status, text };
    return text;
  }

  #whereOf({ host, bytes }: AccessEntry): string {
    const last = this.#where;
    if (last.bytes === bytes && last.host === host) return last.text;
    const shown = HOST.test(host) ? host.toLowerCase() : "";
    const text = `,"bytes":${bytes},"host":"${shown}","click":"`;
    this.#where = { host, bytes, text };
    return text;
  }

  #write(): void {
    if (this.#writing !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#mustReopen) this.#reopenNow();
    if (this.#text === "") return;
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    this.#writing = this.#writeAll(bytes).finally(() => {
      this.#writing = undefined;
      if (this.#text.length >= WRITE_CHARACTERS || this.#mustReopen) this.#write();
    });
  }

  #reopenNow(): void {
    this.#mustReopen = false;
    try {
      const descriptor = openDescriptor(this.#options.file);
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
      this.#isFile = fstatSync(descriptor).isFile();
    } catch (error) {
      // The renamed file goes on.
      this.#options.events.failed(error);
    }
  }

  /** Never rejects. */
  async #writeAll(bytes: Buffer): Promise<void> {
    let from = 0;
    while (from < bytes.length) {
      const to = this.#isFile ? bytes.length : endOfPiece(bytes, from);
      try {
        from += await writeOnce(this.#descriptor, bytes.subarray(from, to));
      } catch (error) {
        if (isFullPipe(error) && !this.#isClosed) {
          await sleep(FULL_PIPE_WAIT_MS, undefined, { ref: false });
          continue;
        }
        this.#options.events.dropped(countLines(bytes.subarray(from)));
        this.#options.events.failed(error);
        return;
      }
    }
  }
}

function openDescriptor(file: string | undefined): number {
  return file === undefined ? STANDARD_OUTPUT : openSync(file, "a", FILE_MODE);
}

/** The end of the last line that still fits into one write to a pipe. */
function endOfPiece(bytes: Buffer, from: number): number {
  if (bytes.length - from <= PIPE_BYTES_MAX) return bytes.length;
  const last = bytes.lastIndexOf(NEW_LINE, from + PIPE_BYTES_MAX - 1);
  return last < from ? from + PIPE_BYTES_MAX : last + 1;
}

function writeOnce(descriptor: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}

function isFullPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === NEW_LINE) lines += 1;
  return lines;
}

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text.slice(0, REASON_LENGTH_MAX));
}
