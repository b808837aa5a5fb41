import { type Header, NO_INDEX, NO_STORE } from "./answers.ts";

/** What follows the location of every redirect: each is a click, so no answer may be cached (TRK-046). */
const AFTER_LOCATION = [NO_STORE, NO_INDEX]
  .map(([name, value]) => `\r\n${name}: ${value}`)
  .join("");

/**
 * The redirect of a visitor, an answer whose head is one text: writing it takes one call into the server. Its location may contain text of
 * the visitor and must be checked before it is sent (P27); the rest is ours.
 */
export class VisitorRedirect {
  readonly status = 302;
  readonly body = "";
  readonly location: string;
  /** Values of Set-Cookie. */
  readonly #cookies: readonly string[];

  constructor(location: string, cookies: readonly string[]) {
    this.location = location;
    this.#cookies = cookies;
  }

  /** Status and headers, without the line end after the last header. */
  get head(): string {
    let head = `302 Found\r\nLocation: ${this.location}${AFTER_LOCATION}`;
    for (const cookie of this.#cookies) head += `\r\nSet-Cookie: ${cookie}`;
    return head;
  }

  get headers(): readonly Header[] {
    const cookies = this.#cookies.map((value): Header => ["Set-Cookie", value]);
    return [["Location", this.location], NO_STORE, NO_INDEX, ...cookies];
  }
}
