import { connect, type Socket } from "node:net";

/** One answer as received. */
export type RawAnswer = {
  readonly status: number;
  /** Lower-case names; values of a repeated header in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
};

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]+$/;
const FIELD = /^([A-Za-z0-9-]+): ([\x20-\x7e\t]*)$/;
const ANSWER_TIMEOUT_MS = 15_000;

/** Bytes that no HTTP server may send. */
export class MalformedAnswerError extends Error {
  constructor(what: string, bytes: string) {
    super(`${what}: ${JSON.stringify(bytes.slice(0, 300))}`);
    this.name = "MalformedAnswerError";
  }
}

/**
 * The first answer in `text` (latin1) and where the next begins; undefined while it is incomplete. Stricter than a browser: one
 * line format, printable ASCII only, and either a length or the end of the connection. @throws {MalformedAnswerError}
 */
function readAnswer(
  text: string,
  options: { readonly isHead: boolean; readonly isClosed: boolean },
): { answer: RawAnswer; end: number } | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) {
    if (!text.slice(0, 9).startsWith("HTTP/1.1 ".slice(0, text.length)))
      throw new MalformedAnswerError("no status line", text);
    return undefined;
  }
  const [first = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const status = STATUS_LINE.exec(first)?.[1];
  if (status === undefined) throw new MalformedAnswerError("no status line", text);
  const headers = readHeaders(lines, text);
  const end = endOfBody(text, { headers, bodyAt: headEnd + 4, ...options });
  if (end === undefined || text.length < end) return undefined;
  return { answer: { status: Number(status), headers, body: text.slice(headEnd + 4, end) }, end };
}

/** Undefined while the body ends with the connection, which is still open. */
function endOfBody(
  text: string,
  read: {
    readonly headers: RawAnswer["headers"];
    readonly bodyAt: number;
    readonly isHead: boolean;
    readonly isClosed: boolean;
  },
): number | undefined {
  const { headers, bodyAt, isHead, isClosed } = read;
  if (headers.has("transfer-encoding")) throw new MalformedAnswerError("an answer in chunks", text);
  const length = headers.get("content-length")?.[0];
  if (length === undefined) {
    if (headers.get("connection")?.[0] !== "close")
      throw new MalformedAnswerError("neither length nor end", text);
    return isClosed ? text.length : undefined;
  }
  if (!/^\d+$/.test(length)) throw new MalformedAnswerError("no length", text);
  return bodyAt + (isHead ? 0 : Number(length));
}

function readHeaders(lines: readonly string[], text: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const field = FIELD.exec(line);
    if (field === null) throw new MalformedAnswerError(`no header: ${JSON.stringify(line)}`, text);
    const name = (field[1] ?? "").toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), field[2] ?? ""]);
  }
  for (const name of ["content-length", "location", "connection", "date", "content-type"]) {
    if ((headers.get(name)?.length ?? 0) > 1)
      throw new MalformedAnswerError(`${name} more than once`, text);
  }
  return headers;
}

/** A connection that sends bytes unchanged and checks answers against the grammar. */
export class RawConnection {
  readonly #socket: Socket;
  #received = "";
  #isClosed = false;
  #wake: (() => void) | undefined;
  /** When the other side closed it, or 0. */
  closedAtMs = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString("latin1");
      this.#wake?.();
    });
    // A reset counts as a close.
    socket.on("error", () => undefined);
    socket.on("end", () => this.#closed());
    socket.on("close", () => this.#closed());
  }

  /** Connects to this machine unless told another host. @throws if no server listens. */
  static async open(
    port: number,
    ends: { readonly host?: string; readonly localAddress?: string } = {},
  ): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, ...ends });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new RawConnection(socket);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes received beyond the answers taken so far, as latin1. */
  get rest(): string {
    return this.#received;
  }

  send(bytes: string | Uint8Array): void {
    if (this.#isClosed) return;
    this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Sends, and resolves once the kernel has all bytes or the connection has ended. */
  sendAll(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) {
        resolve();
        return;
      }
      this.#socket.once("close", resolve);
      this.#socket.write(bytes, () => {
        this.#socket.off("close", resolve);
        resolve();
      });
    });
  }

  /** Stops reading. From then on, a close by the other side shows only as a failing write. */
  pause(): void {
    this.#socket.pause();
  }

  /** Ends our half, so that the other side sees the end of our bytes. */
  finish(): void {
    this.#socket.end();
  }

  /** The next answer; undefined if the connection ended before it was complete. @throws if neither happens in time. */
  async answer(isHead = false, timeoutMs = ANSWER_TIMEOUT_MS): Promise<RawAnswer | undefined> {
    const deadlineMs = Date.now() + timeoutMs;
    for (;;) {
      const read = readAnswer(this.#received, { isHead, isClosed: this.#isClosed });
      if (read !== undefined) {
        this.#received = this.#received.slice(read.end);
        return read.answer;
      }
      if (this.#isClosed) return undefined;
      if (!(await this.#more(deadlineMs - Date.now())))
        throw new Error(`neither an answer nor the end within ${timeoutMs} ms`);
    }
  }

  /** Waits for the other side to close it. Returns false if it does not in time. */
  async untilClosed(timeoutMs: number): Promise<boolean> {
    const deadlineMs = Date.now() + timeoutMs;
    while (!this.#isClosed) {
      if (!(await this.#more(deadlineMs - Date.now()))) return this.#isClosed;
    }
    return true;
  }

  destroy(): void {
    this.#socket.destroy();
    this.#closed();
  }

  /** False if nothing happened for `timeoutMs`. */
  #more(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.max(0, timeoutMs));
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(true);
      };
    });
  }

  #closed(): void {
    if (!this.#isClosed) this.closedAtMs = Date.now();
    this.#isClosed = true;
    this.#socket.destroy();
    this.#wake?.();
  }
}

/** A request with these header lines. */
export function rawRequest(
  target: string,
  options: {
    readonly method?: string;
    readonly host?: string;
    readonly headers?: readonly string[];
    readonly body?: string;
  } = {},
): string {
  const { method = "GET", host = "trk.example", headers = [], body = "" } = options;
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers];
  if (body !== "") lines.push(`Content-Length: ${Buffer.byteLength(body, "latin1")}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const PIPELINED_MAX = 64;

/**
 * Sends the requests on one connection, up to 64 in one segment, and returns the answers in order. @throws if a request gets no
 * answer.
 */
export async function askPipelined(
  port: number,
  requests: readonly string[],
): Promise<RawAnswer[]> {
  const connection = await RawConnection.open(port);
  const answers: RawAnswer[] = [];
  try {
    for (let from = 0; from < requests.length; from += PIPELINED_MAX) {
      const batch = requests.slice(from, from + PIPELINED_MAX);
      connection.send(batch.join(""));
      for (const request of batch) {
        const answer = await connection.answer();
        if (answer === undefined)
          throw new Error(`no answer to ${JSON.stringify(request.slice(0, 200))}`);
        answers.push(answer);
      }
    }
    if (connection.rest !== "")
      throw new MalformedAnswerError("bytes after the last answer", connection.rest);
  } finally {
    connection.destroy();
  }
  return answers;
}

/** Sends one request on its own connection. Undefined if that ended without an answer. */
export async function askOnce(
  port: number,
  bytes: string | Uint8Array,
  isHead = false,
): Promise<RawAnswer | undefined> {
  const connection = await RawConnection.open(port);
  try {
    connection.send(bytes);
    return await connection.answer(isHead);
  } finally {
    connection.destroy();
  }
}

/** Runs `work` over all items, `concurrency` at a time. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next())
      await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
