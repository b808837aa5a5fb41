import type { HttpResponse } from "uWebSockets.js";
import { prefersHtml } from "../schemas/net/prefers-html.ts";
import type { AccessNotes } from "./access-notes.ts";
import { HTML_TYPE, jsonAnswer } from "./answers.ts";
import type { RedirectTraces } from "./redirect-traces.ts";
import type { ReceivedRequest } from "./request/received-request.ts";
import type { Answer } from "./route.ts";
import { VisitorRedirect } from "./visitor-redirect.ts";
import { bodyOf, endOrWait, isHeaderText, isSafe, lengthOf, writeHead } from "./write-answer.ts";

export type AnswerEvents = {
  answered(status: number): void;
  handlerFailed(error: unknown, requestId: string): void;
};

/** The answer of a fault of ours. */
export const FAILED = jsonAnswer(500, { error: "internal_error" });

/** Sends answers whole or not at all: after an abort nothing is sent. */
export class AnswerSender {
  readonly #events: AnswerEvents;
  readonly #access: AccessNotes | undefined;
  readonly #traces: RedirectTraces | undefined;
  /** While this process drains, the last answer of each connection makes its client go elsewhere. */
  isEnding = false;

  constructor(
    events: AnswerEvents,
    access: AccessNotes | undefined,
    traces: RedirectTraces | undefined,
  ) {
    this.#events = events;
    this.#access = access;
    this.#traces = traces;
  }

  /** Ends a request within its handler, or corked. */
  send(response: HttpResponse, wanted: Answer, isHead: boolean, request: ReceivedRequest): void {
    if (wanted instanceof VisitorRedirect && !isHead && isHeaderText(wanted.location)) {
      response.writeStatus(wanted.head);
      this.#endNow(response, wanted, request);
      return;
    }
    const answer = this.#safe(shownTo(request, wanted), request);
    const body = bodyOf(answer);
    if (isHead || lengthOf(body) === 0) {
      this.sendLast(response, answer, isHead, request);
      return;
    }
    writeHead(response, answer, shownId(request, answer));
    this.#endNow(response, answer, request);
  }

  #endNow(response: HttpResponse, answer: Answer, request: ReceivedRequest): void {
    const body = bodyOf(answer);
    if (this.isEnding) response.end(body, true);
    else endOrWait(response, body);
    this.#events.answered(answer.status);
    this.#access?.answered(request, answer.status, lengthOf(body));
    this.#traces?.answered(request, answer.status);
  }

  /**
   * Sends the last answer of a connection. Needed when it is unclear where the next request begins, and when an answer has no
   * body, because only a body shows that the client does not read (P28). It leaves after this turn: until then the server cuts
   * the connection rather than read another request from it.
   */
  sendLast(
    response: HttpResponse,
    wanted: Answer,
    isHead: boolean,
    request: ReceivedRequest,
  ): void {
    const answer = this.#safe(wanted, request);
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    setImmediate(() => {
      if (isGone) return;
      const body = bodyOf(answer);
      response.cork(() => {
        writeHead(response, answer, shownId(request, answer));
        if (isHead) response.endWithoutBody(lengthOf(body), true);
        else response.end(body, true);
      });
      this.#events.answered(answer.status);
      this.#access?.answered(request, answer.status, isHead ? 0 : lengthOf(body));
    });
  }

  /**
   * Removes headers with a control character (P27). Such a header is a bug of ours: text from a visitor must never be able to add a
   * header. An answer without its Location header is useless, so it becomes {@link FAILED}.
   */
  #safe(answer: Answer, request: ReceivedRequest): Answer {
    if (answer.headers.every(isSafe)) return answer;
    const unsafe = answer.headers.filter((header) => !isSafe(header));
    const names = unsafe.map(([name]) => name);
    const fault = new Error(`a control character in the header ${names.join(", ")}`);
    this.#events.handlerFailed(fault, request.requestId);
    if (names.includes("Location")) return FAILED;
    return { ...answer, headers: answer.headers.filter(isSafe) };
  }
}

/** Browsers get the page of an answer that has one. Its headers keep any cache from mixing the two up. */
function shownTo({ headers: { accept } }: ReceivedRequest, answer: Answer): Answer {
  const { page, status, headers } = answer;
  if (page === undefined || !prefersHtml(accept)) return answer;
  const others = headers.filter(([name]) => name !== HTML_TYPE[0]);
  return { status, headers: [HTML_TYPE, ...others], body: page };
}

/** Nobody looks for what went well: redirects, images and scripts cost no header. */
function shownId(request: ReceivedRequest, { status }: Answer): string {
  return request.route.showsId || status >= 400 ? request.requestId : "";
}
