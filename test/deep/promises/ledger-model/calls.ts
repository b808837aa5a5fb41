import { z } from "zod";
import type { Books } from "../../../integration/billing/books.ts";
import { pause } from "../../../system/service.ts";

export type Called = { readonly status: number; readonly data: unknown; readonly text: string };

type Content = { readonly type: string; readonly text: string };

const Body = z.looseObject({ data: z.unknown().optional() });
const TRIES = 40;
const AGAIN_MS = 25;

/** Calls of one workspace to an API whose sessions are ended at any moment: each is sent again until it is answered. */
export class Calls {
  readonly #origin: string;
  readonly #key: string;
  readonly #books: Books;
  #sent = 0;

  constructor(origin: string, key: string, books: Books) {
    this.#origin = origin;
    this.#key = key;
    this.#books = books;
  }

  async get(path: string): Promise<Called> {
    return (await this.#send("GET", path)).called;
  }

  /** With an `Idempotency-Key`: what is sent again has its effect once. */
  async send(method: "POST" | "PUT" | "PATCH", path: string, body?: unknown): Promise<Called> {
    return (await this.#send(method, path, jsonOf(body))).called;
  }

  async sendFile(path: string, csv: string): Promise<Called> {
    return (await this.#send("POST", path, { type: "text/csv", text: csv })).called;
  }

  /** For a call that is refused once it had its effect: refused after it was sent again, the record must be `status` of `table`. */
  async move(
    path: string,
    body: unknown,
    done: Readonly<Record<"table" | "status", string>> & { readonly id: number },
  ): Promise<Called> {
    const { called, times } = await this.#send("POST", path, jsonOf(body));
    if (called.status !== 409 || times === 1) return called;
    const [row] = await this.#books.rows<{ status: string }>(
      `select status from ${done.table} where id = $1`,
      [done.id],
    );
    return row?.status === done.status ? { ...called, status: 200 } : called;
  }

  async #send(
    method: string,
    path: string,
    body?: Content,
  ): Promise<{ called: Called; times: number }> {
    this.#sent += 1;
    const headers = {
      authorization: `Bearer ${this.#key}`,
      ...(method === "POST" && { "idempotency-key": `c${this.#sent}` }),
      ...(body !== undefined && { "content-type": body.type }),
    };
    const text = body?.text ?? null;
    for (let times = 1; times <= TRIES; times += 1) {
      const answer = await fetch(`${this.#origin}/api/v1${path}`, { method, headers, body: text });
      const said = await answer.text();
      if (answer.status < 500 && !answer.headers.has("retry-after"))
        return { called: { status: answer.status, data: dataOf(said), text: said }, times };
      await pause(AGAIN_MS);
    }
    throw new Error(`${method} ${path} was not answered`);
  }
}

function jsonOf(body: unknown): Content | undefined {
  return body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) };
}

function dataOf(text: string): unknown {
  return text.startsWith("{") ? Body.parse(JSON.parse(text)).data : text;
}
