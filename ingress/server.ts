import uws, { type HttpRequest, type HttpResponse, type us_listen_socket } from "uWebSockets.js";
import type { Answer, AsyncRoute, RawRequest, Recorded, Route, RouteResult } from "./route.ts";

/** A path and what answers it. Patterns are those of uWebSockets.js. */
export type SyncEntry = {
  readonly pattern: string;
  readonly methods: readonly string[];
  readonly route: Route;
};
export type AsyncEntry = {
  readonly pattern: string;
  readonly methods: readonly string[];
  readonly bodyBytesMax: number;
  readonly route: AsyncRoute;
  readonly tooLarge: Answer;
};

export type ServerOptions = {
  readonly sync: readonly SyncEntry[];
  readonly async: readonly AsyncEntry[];
  /** What a known path answers to another method, by pattern. */
  readonly wrongMethod: ReadonlyMap<string, Answer>;
  /** Calls back when the record may be answered for (P1). */
  readonly record: (recorded: Recorded, whenDurable: () => void) => void;
  readonly events: { answered(status: number): void; handlerFailed(error: unknown): void };
};

const CLOSE_POLL_MS = 20;
const ASYNC_IN_FLIGHT_MAX = 10_000;
const HEADER_TEXT = /^[\x20-\x7e\t]*$/;
const STATUS_LINES: Readonly<Record<number, string>> = {
  200: "200 OK",
  204: "204 No Content",
  302: "302 Found",
  304: "304 Not Modified",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  413: "413 Payload Too Large",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};
const NO_STORE = ["Cache-Control", "no-store"] as const;
const JSON_TYPE = ["Content-Type", "application/json; charset=utf-8"] as const;
const NOT_FOUND: Answer = errorAnswer(404, "not_found");
const FAILED: Answer = errorAnswer(500, "internal_error");
const BUSY: Answer = {
  ...errorAnswer(503, "too many requests wait"),
  headers: [JSON_TYPE, NO_STORE, ["Retry-After", "5"]],
};

/**
 * The HTTP server of the tracking domain. Everything that uWebSockets.js asks for is kept here: a request is read in its own
 * turn, a response is touched once and never after it was aborted, and no handler can throw into native code.
 */
export class IngressServer {
  readonly #options: ServerOptions;
  readonly #app = uws.App();
  #listening: us_listen_socket | undefined;
  #inFlight = 0;
  #isEnding = false;
  #connections = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#app.filter((_response, change) => {
      this.#connections += Number(change);
    });
    for (const entry of options.sync) {
      for (const method of entry.methods)
        this.#add(method, entry.pattern, this.#syncHandler(entry.route));
    }
    for (const entry of options.async) {
      for (const method of entry.methods)
        this.#add(method, entry.pattern, this.#asyncHandler(entry));
    }
    for (const [pattern, answer] of options.wrongMethod) {
      this.#app.any(pattern, (response, request) => {
        this.#send(response, answer, request.getMethod() === "head");
      });
    }
    this.#app.any("/*", (response, request) =>
      this.#send(response, NOT_FOUND, request.getMethod() === "head"),
    );
  }

  /** Requests that wait for a body, the journal or another process. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Shares the port with the other processes of this installation. @throws when somebody else has it. */
  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(
            new Error(
              `TRACKING_PORT: ${host}:${port} is in use by another program: stop it, or choose another TRACKING_PORT`,
            ),
          );
          return;
        }
        this.#listening = socket;
        resolve();
      });
    });
  }

  /**
   * Takes no new connections, ends each open one with its next answer (P34), and cuts after `deadlineMs` what is left.
   */
  async close(deadlineMs: number): Promise<void> {
    if (this.#listening !== undefined) uws.us_listen_socket_close(this.#listening);
    this.#listening = undefined;
    this.#isEnding = true;
    const endAtMs = performance.now() + deadlineMs;
    while (this.#connections > 0 && performance.now() < endAtMs) {
      await new Promise((resolve) => {
        setTimeout(resolve, CLOSE_POLL_MS);
      });
    }
    this.#app.close();
  }

  #add(
    method: string,
    pattern: string,
    handler: (response: HttpResponse, request: HttpRequest) => void,
  ): void {
    switch (method) {
      case "GET":
        this.#app.get(pattern, handler);
        return;
      case "HEAD":
        this.#app.head(pattern, handler);
        return;
      case "POST":
        this.#app.post(pattern, handler);
        return;
      case "OPTIONS":
        this.#app.options(pattern, handler);
        return;
      default:
        throw new Error(`no handler can be added for ${method}`);
    }
  }

  #syncHandler(route: Route): (response: HttpResponse, request: HttpRequest) => void {
    return (response, request) => {
      let result: RouteResult;
      const isHead = request.getMethod() === "head";
      try {
        result = route(readRequest(response, request));
      } catch (error) {
        this.#fail(response, error, isHead);
        return;
      }
      if (result.recorded === undefined) this.#send(response, result.answer, isHead);
      else this.#record(response, result.recorded, result.answer, isHead);
    };
  }

  /** The answer leaves with the journal's write, still in this turn of the event loop. */
  #record(response: HttpResponse, recorded: Recorded, answer: Answer, isHead: boolean): void {
    let isInHandler = true;
    let isAborted = false;
    let isAnswered = false;
    this.#begin();
    try {
      this.#options.record(recorded, () => {
        this.#end();
        isAnswered = true;
        if (isInHandler) this.#send(response, answer, isHead);
        else if (!isAborted) response.cork(() => this.#send(response, answer, isHead));
      });
    } catch (error) {
      this.#end();
      if (!isAnswered) this.#fail(response, error, isHead);
    }
    isInHandler = false;
    if (!isAnswered) {
      response.onAborted(() => {
        isAborted = true;
      });
    }
  }

  #asyncHandler(entry: AsyncEntry): (response: HttpResponse, request: HttpRequest) => void {
    return (response, request) => {
      const isHead = request.getMethod() === "head";
      if (this.#inFlight >= ASYNC_IN_FLIGHT_MAX) {
        this.#send(response, BUSY, isHead);
        return;
      }
      const abort = new AbortController();
      this.#begin();
      response.onAborted(() => {
        abort.abort();
        this.#end();
      });
      const settle = (answer: Answer): void => {
        if (abort.signal.aborted) return;
        this.#end();
        response.cork(() => this.#send(response, answer, isHead));
      };
      const raw = readWholeRequest(response, request);
      readBody(response, entry.bodyBytesMax, (body) => {
        if (body === undefined) settle(entry.tooLarge);
        else void this.#runAsync(entry, { raw, body, signal: abort.signal }).then(settle);
      });
    };
  }

  async #runAsync(
    entry: AsyncEntry,
    { raw, body, signal }: { raw: RawRequest; body: Uint8Array; signal: AbortSignal },
  ): Promise<Answer> {
    try {
      const { recorded, answer } = await entry.route(raw, body, signal);
      if (recorded !== undefined) {
        await new Promise<void>((resolve) => {
          this.#options.record(recorded, resolve);
        });
      }
      return answer;
    } catch (error) {
      this.#options.events.handlerFailed(error);
      return FAILED;
    }
  }

  #fail(response: HttpResponse, error: unknown, isHead: boolean): void {
    this.#options.events.handlerFailed(error);
    response.cork(() => this.#send(response, FAILED, isHead));
  }

  #send(response: HttpResponse, answer: Answer, isHead: boolean): void {
    response.writeStatus(STATUS_LINES[answer.status] ?? String(answer.status));
    for (const [name, value] of answer.headers) {
      // Nothing that a visitor sent may begin a header of its own; what does is a fault of ours (P27).
      if (HEADER_TEXT.test(value)) response.writeHeader(name, value);
      else
        this.#options.events.handlerFailed(new Error(`header ${name} holds a control character`));
    }
    // While this process ends, each connection is told to go elsewhere with its last answer.
    if (isHead) response.endWithoutBody(lengthOf(answer.body), this.#isEnding);
    else response.end(answer.body, this.#isEnding);
    this.#options.events.answered(answer.status);
  }

  #begin(): void {
    this.#inFlight += 1;
  }

  #end(): void {
    this.#inFlight -= 1;
  }
}

/** Parts of a multipart body by name; undefined when it is none. */
export function readMultipart(
  body: Uint8Array,
  contentType: string,
): { name: string; value: string }[] | undefined {
  const parts = uws.getParts(body, contentType);
  return parts?.map(({ name, data }) => ({ name, value: Buffer.from(data).toString("utf8") }));
}

/** What click paths read: a header costs 0.1 µs, so those of other paths are left out. */
function readRequest(response: HttpResponse, request: HttpRequest): RawRequest {
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? "",
    peerIp: Buffer.from(response.getRemoteAddressAsText()).toString("latin1"),
    headers: {
      host: request.getHeader("host"),
      userAgent: request.getHeader("user-agent"),
      referer: request.getHeader("referer"),
      acceptLanguage: request.getHeader("accept-language"),
      xForwardedFor: request.getHeader("x-forwarded-for"),
      xForwardedProto: request.getHeader("x-forwarded-proto"),
      via: request.getHeader("via"),
      cookie: request.getHeader("cookie"),
      contentType: "",
      origin: "",
      ifNoneMatch: "",
    },
  };
}

function readWholeRequest(response: HttpResponse, request: HttpRequest): RawRequest {
  const raw = readRequest(response, request);
  return {
    ...raw,
    headers: {
      ...raw.headers,
      contentType: request.getHeader("content-type"),
      origin: request.getHeader("origin"),
      ifNoneMatch: request.getHeader("if-none-match"),
    },
  };
}

/** Calls back once, with the whole body, or with undefined as soon as it is longer than `bytesMax`. */
function readBody(
  response: HttpResponse,
  bytesMax: number,
  done: (body: Uint8Array | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isDone = false;
  response.onData((chunk, isLast) => {
    if (isDone) return;
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      isDone = true;
      done(undefined);
      return;
    }
    // The chunk is gone when this call returns.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(Buffer.from(chunk)));
    if (!isLast) return;
    isDone = true;
    done(Buffer.concat(chunks));
  });
}

function errorAnswer(status: number, error: string): Answer {
  return { status, headers: [JSON_TYPE, NO_STORE], body: JSON.stringify({ error }) };
}

function lengthOf(body: string | Uint8Array): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}
