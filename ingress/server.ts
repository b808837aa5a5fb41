import uws, { type HttpResponse, type us_listen_socket } from "uWebSockets.js";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TrustedProxies } from "../schemas/net/forwarded-for.ts";
import type { AccessNotes } from "./access-notes.ts";
import { jsonAnswer } from "./answers.ts";
import type { Pending } from "./journal/journal.ts";
import { BodyReader } from "./read-body.ts";
import type { RedirectTraces } from "./redirect-traces.ts";
import { type FramingFault, framingFault } from "./request/framing.ts";
import { PeerAddresses } from "./request/peer-address.ts";
import { ReceivedRequest, type RouteFacts } from "./request/received-request.ts";
import { type RequestHead, readHead } from "./request/request-head.ts";
import type { Answer, AsyncEntry, RawRequest, Recorded, SyncEntry } from "./route.ts";
import { sampled, type Timed } from "./sampled-time.ts";
import { type AnswerEvents, AnswerSender, FAILED } from "./send-answer.ts";
import { type AskedRequest, StrayRequests } from "./stray-requests.ts";
import { UNAVAILABLE_PAGE } from "./visitor-pages.ts";

export type ServerOptions = {
  readonly sync: readonly SyncEntry[];
  readonly async: readonly AsyncEntry[];
  /** The answer of a known path to another method, by pattern. */
  readonly wrongMethod: ReadonlyMap<string, Answer>;
  /** Returns undefined when the answer may leave now (P1), else what it must wait for. */
  readonly record: (recorded: Recorded) => Pending | undefined;
  readonly events: AnswerEvents;
  /** Undefined without an access log. */
  readonly access?: AccessNotes | undefined;
  /** Undefined without tracing. */
  readonly traces?: RedirectTraces | undefined;
  /** Proxies whose X-Request-Id is kept. */
  readonly trustedProxies: TrustedProxies;
  /** Takes how long requests of a path take, in seconds; for the routes in `sync` only requests that {@link sampled} picks. */
  readonly timed: (pattern: string) => Timed;
  /** Called after a request was refused without its route, or instead of the route's answer. */
  readonly refused: (pattern: string, request: RawRequest, refusal: ServerRefusal) => void;
  /** Most requests that may wait before the others are answered with `busy`. */
  readonly inFlightMax?: number;
};

/** `too_many`: too many requests wait · `failed`: the handler threw · `rate_limited`: by its address (G152) · `not_found`: no route. */
export type ServerRefusal = {
  readonly cause:
    | "wrong_method"
    | "too_large"
    | "too_many"
    | "failed"
    | "rate_limited"
    | "not_found"
    | FramingFault;
  readonly httpStatus: number;
};

const CLOSE_POLL_MS = 20;
const QUIET_TURN_MS = 0.05;
const QUIET_TURN_WAIT_MS = 500;
const IN_FLIGHT_MAX = 10_000;
/** Most bytes of bodies being read, for all requests together. */
const BODY_BYTES_HELD_MAX = 256 * 1024 ** 2;
const NOT_FOUND = { ...jsonAnswer(404, { error: "not_found" }), page: UNAVAILABLE_PAGE };
const FRAMING_ANSWERS: Readonly<Record<FramingFault, Answer>> = {
  ambiguous: jsonAnswer(400, { error: "bad_request" }),
  length_required: jsonAnswer(411, { error: "length_required" }),
};
const ADDERS: Readonly<Record<string, "get" | "head" | "post" | "options" | "any">> = {
  GET: "get",
  HEAD: "head",
  POST: "post",
  OPTIONS: "options",
  "": "any",
};
const NO_BODY = new Uint8Array(0);
const NO_ROUTE: RouteFacts = { pattern: "", showsId: true };

type Handler = (response: HttpResponse, request: AskedRequest, head: RequestHead) => void;
type StrayHandler = (response: HttpResponse, request: AskedRequest) => void;
type Addable = { readonly method: string; readonly pattern: string; readonly isAsync: boolean };

leaveOutServerName();

/**
 * The HTTP server of the tracking domain. It keeps the rules of uWebSockets.js: a request is read when its handler is called, a
 * response is used once and never after an abort, and no handler can throw into native code.
 */
export class IngressServer {
  readonly #options: ServerOptions;
  readonly #app = uws.App();
  readonly #bodies = new BodyReader(BODY_BYTES_HELD_MAX);
  readonly #answers: AnswerSender;
  readonly #strays = new StrayRequests<StrayHandler>();
  #listening: us_listen_socket | undefined;
  #inFlight = 0;
  #connections = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#answers = new AnswerSender(options.events, options.access, options.traces);
    this.#app.filter((_response, change) => {
      this.#connections += Number(change);
    });
    for (const { methods, pattern, route } of options.sync) {
      for (const method of methods) {
        const handler = sampled(
          this.#syncHandler({ pattern, route }, method),
          options.timed(pattern),
        );
        this.#add({ method, pattern, isAsync: false }, handler);
      }
    }
    for (const entry of options.async) {
      for (const method of entry.methods) {
        const handler = this.#asyncHandler(entry, method);
        this.#add({ method, pattern: entry.pattern, isAsync: true }, handler);
      }
    }
    for (const [pattern, answer] of options.wrongMethod) {
      const facts = { pattern, showsId: true };
      this.#add({ method: "", pattern, isAsync: false }, (response, request, head) => {
        const method = request.getMethod().toUpperCase();
        const raw = this.#received(facts, method, head, { response, request });
        raw.decided({ reason: "wrong_method" });
        this.#answers.send(response, answer, method === "HEAD", raw);
        this.#reportRefusal(pattern, raw, { cause: "wrong_method", httpStatus: answer.status });
      });
    }
    this.#addStrays();
  }

  /** Requests that wait for the journal or another process. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Shares the port with the other processes of this installation. @throws when another program has it. */
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

  /** From now on each connection ends with its next answer. New connections are still accepted, for one request each. */
  drain(): void {
    this.#answers.isEnding = true;
  }

  /** Accepts no new connections, ends each open one with its next answer (P34), and cuts the remaining ones after `deadlineMs`. */
  async close(deadlineMs: number): Promise<void> {
    const endAtMs = performance.now() + deadlineMs;
    await this.#stopListening();
    this.drain();
    while (this.#connections > 0 && performance.now() < endAtMs) {
      await new Promise((resolve) => {
        setTimeout(resolve, CLOSE_POLL_MS);
      });
    }
    this.#app.close();
  }

  /**
   * Closing the listener resets connections that the kernel has accepted and we have not. So close it right after a turn of the event loop
   * that had almost nothing to do: that turn took the last such connections.
   */
  async #stopListening(): Promise<void> {
    const giveUpAtMs = performance.now() + QUIET_TURN_WAIT_MS;
    for (let turnAtMs = performance.now(); turnAtMs < giveUpAtMs; ) {
      await nextTurn();
      const nowMs = performance.now();
      if (nowMs - turnAtMs < QUIET_TURN_MS) break;
      turnAtMs = nowMs;
    }
    if (this.#listening !== undefined) uws.us_listen_socket_close(this.#listening);
    this.#listening = undefined;
  }

  /** `method` "" handles every method that the pattern has no handler for. */
  #add({ method, pattern, isAsync }: Addable, handler: Handler): void {
    const guarded = this.#guarded({ pattern, isAsync }, handler);
    const add = ADDERS[method];
    if (add === undefined) throw new Error(`no handler can be added for ${method}`);
    this.#app[add](pattern, guarded);
    this.#strays.add(method, pattern, guarded);
  }

  /** The handler behind the check of where its request ends. */
  #guarded({ pattern, isAsync }: Omit<Addable, "method">, handler: Handler): StrayHandler {
    const facts = { pattern, showsId: true };
    return (response, request) => {
      const head = readHead(request);
      const fault = framingFault(head, isAsync);
      if (fault === undefined) {
        handler(response, request, head);
        return;
      }
      const asked = request.getMethod().toUpperCase();
      const raw = this.#received(facts, asked, head, { response, request });
      raw.decided({ reason: fault });
      const answer = FRAMING_ANSWERS[fault];
      this.#answers.sendLast(response, answer, asked === "HEAD", raw);
      this.#reportRefusal(pattern, raw, { cause: fault, httpStatus: answer.status });
    };
  }

  /** A path without a route may have one under the path that its link had before it was copied. */
  #addStrays(): void {
    const notFound = (response: HttpResponse, request: AskedRequest): void => {
      const method = request.getMethod().toUpperCase();
      const raw = this.#received(NO_ROUTE, method, readHead(request), { response, request });
      this.#answers.send(response, NOT_FOUND, method === "HEAD", raw);
      this.#reportRefusal("", raw, { cause: "not_found", httpStatus: NOT_FOUND.status });
    };
    const guarded = this.#guarded({ pattern: "", isAsync: false }, notFound);
    this.#app.any("/*", (response, request) => {
      const stray = this.#strays.find(request);
      if (stray === undefined) guarded(response, request);
      else stray.handler(response, stray.asked);
    });
  }

  #syncHandler({ pattern, route }: Pick<SyncEntry, "pattern" | "route">, method: string): Handler {
    const isHead = method === "HEAD";
    const facts = { pattern, showsId: false };
    return (response, request, head) => {
      const raw = this.#received(facts, method, head, { response, request });
      try {
        const decided = route(raw);
        const { answer, recorded } = decided;
        raw.decided(decided);
        const pending = recorded === undefined ? undefined : this.#options.record(recorded);
        if (pending === undefined) this.#answers.send(response, answer, isHead, raw);
        else
          this.#afterRecord(response, pending, () => {
            this.#answers.send(response, answer, isHead, raw);
          });
      } catch (error) {
        this.#fail(response, error, { isHead, raw });
        this.#reportRefusal(pattern, raw, { cause: "failed", httpStatus: FAILED.status });
      }
    };
  }

  /** Answers when the disk or JetStream has the record. */
  #afterRecord(response: HttpResponse, pending: Pending, send: () => void): void {
    let isAborted = false;
    response.onAborted(() => {
      isAborted = true;
    });
    this.#begin();
    pending(() => {
      this.#end();
      if (!isAborted) response.cork(send);
    });
  }

  /** A request that is aborted while its body is read has no effect. */
  #asyncHandler(entry: AsyncEntry, method: string): Handler {
    const isHead = method === "HEAD";
    const timed = this.#options.timed(entry.pattern);
    const facts = { pattern: entry.pattern, showsId: true };
    return (response, request, head) => {
      const startedAtMs = performance.now();
      // Servers and proxies parse chunks differently: no request may follow them on this connection (P28).
      const isLast = head.transferEncodings > 0;
      const abort = new AbortController();
      let isOver = false;
      const settle = (answer: Answer): void => {
        if (isOver) return;
        isOver = true;
        timed.observe((performance.now() - startedAtMs) / 1_000);
        if (isLast || answer.status === 413) this.#answers.sendLast(response, answer, isHead, raw);
        else response.cork(() => this.#answers.send(response, answer, isHead, raw));
      };
      const raw = this.#received(facts, method, head, { response, request });
      const refuse = (cause: "too_large" | "too_many", answer: Answer): void => {
        raw.decided({ reason: cause });
        settle(answer);
        this.#reportRefusal(entry.pattern, raw, { cause, httpStatus: answer.status });
      };
      const forgetBody = this.#bodies.read(response, entry.bodyBytesMax, (body) => {
        const inFlightMax = this.#options.inFlightMax ?? IN_FLIGHT_MAX;
        const isBusy = body === "no_room" || this.#inFlight >= inFlightMax;
        const route = isBusy ? entry.busy : entry.route;
        if (body === "too_long") refuse("too_large", entry.tooLarge);
        else if (typeof route !== "function") refuse("too_many", route);
        else {
          const asked = { raw, body: body === "no_room" ? NO_BODY : body, signal: abort.signal };
          void this.#runAsync({ ...entry, route }, asked).then(settle);
        }
      });
      response.onAborted(() => {
        isOver = true;
        forgetBody();
        abort.abort();
      });
    };
  }

  async #runAsync(
    entry: Pick<AsyncEntry, "pattern" | "route">,
    { raw, body, signal }: { raw: ReceivedRequest; body: Uint8Array; signal: AbortSignal },
  ): Promise<Answer> {
    this.#begin();
    try {
      const decided = await entry.route(raw, body, signal);
      const { recorded, answer } = decided;
      raw.decided(decided);
      const pending = recorded === undefined ? undefined : this.#options.record(recorded);
      if (pending !== undefined) await new Promise<void>(pending);
      return answer;
    } catch (error) {
      raw.decided({ reason: "failed" });
      this.#options.events.handlerFailed(error, raw.requestId);
      this.#reportRefusal(entry.pattern, raw, { cause: "failed", httpStatus: FAILED.status });
      return FAILED;
    } finally {
      this.#end();
    }
  }

  /** Called after the answer. A fault here must not reach the caller. */
  #reportRefusal(pattern: string, request: RawRequest, refusal: ServerRefusal): void {
    try {
      this.#options.refused(pattern, request, refusal);
    } catch (error) {
      this.#options.events.handlerFailed(error, request.requestId);
    }
  }

  #fail(
    response: HttpResponse,
    error: unknown,
    { isHead, raw }: { readonly isHead: boolean; readonly raw: ReceivedRequest },
  ): void {
    raw.decided({ reason: "failed" });
    this.#options.events.handlerFailed(error, raw.requestId);
    response.cork(() => this.#answers.send(response, FAILED, isHead, raw));
  }

  #begin(): void {
    this.#inFlight += 1;
  }

  #end(): void {
    this.#inFlight -= 1;
  }

  #received(
    facts: RouteFacts,
    method: string,
    headers: RequestHead,
    { response, request }: { response: HttpResponse; request: AskedRequest },
  ): ReceivedRequest {
    const parts = {
      method,
      path: request.getUrl(),
      query: request.getQuery() ?? "",
      peerIp: peers.textOf(response.getRemoteAddress()),
      headers,
    };
    const received = new ReceivedRequest(parts, facts, this.#options.trustedProxies);
    this.#options.access?.begin(received);
    this.#options.traces?.begin(received);
    return received;
  }
}

/** Parts of a multipart body by name; undefined when the body is not multipart. */
export function readMultipart(
  body: Uint8Array,
  contentType: string,
): { name: string; value: string }[] | undefined {
  const parts = uws.getParts(body, contentType);
  return parts?.map(({ name, data }) => ({ name, value: Buffer.from(data).toString("utf8") }));
}

const peers = new PeerAddresses();

/** Visitors need not know which program serves them. Uses a function of the native server that its types do not list. */
function leaveOutServerName(): void {
  const native: typeof uws & { readonly _cfg?: (name: "silent") => void } = uws;
  native._cfg?.("silent");
}
