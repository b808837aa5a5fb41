import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, request } from "undici";
import { Demo } from "../../deploy/local/demo-file.ts";

/** The content of DATA_DIR/demo.json, which `npm start` writes. */
export async function readDemo(dataDir: string): Promise<Demo> {
  return Demo.parse(JSON.parse(await readFile(join(dataDir, "demo.json"), "utf8")));
}

const RETRY_MS = 250;
const RETRIES_MAX = 240;
const REQUEST_TIMEOUT_MS = 15_000;

/** A complete HTTP answer. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/** An HTTP client of one running service. Each answer must be complete within 15 s. */
export class ServiceClient {
  readonly demo: Demo;
  readonly #agent: Agent;

  constructor(demo: Demo, connections = 64) {
    this.demo = demo;
    this.#agent = new Agent({
      connections,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
    });
  }

  /** One GET, or POST if there is a body. @throws if no complete answer came: the service may have processed the request. */
  async attempt(
    url: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<HttpAnswer> {
    const answer = await request(url, {
      dispatcher: this.#agent,
      headers,
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
  }

  /** GET of the REST API with the admin key, repeated while the service is away or the minute's rate limit is used up. */
  async rest(path: string): Promise<unknown> {
    let last = "";
    for (let attempt = 0; attempt < RETRIES_MAX; attempt += 1) {
      try {
        const answer = await this.attempt(`${this.demo.base_url}${path}`, {
          authorization: `Bearer ${this.demo.keys.admin}`,
        });
        if (answer.status === 200) return JSON.parse(answer.body);
        last = `HTTP ${answer.status} ${answer.body}`;
        if (answer.status !== 429 && answer.status < 500) break;
      } catch (error) {
        last = String(error);
      }
      await pause(RETRY_MS);
    }
    throw new Error(`GET ${path}: ${last}`);
  }

  /** Makes a record by the REST API with the admin key. Returns the body. @throws unless the record was made. */
  async create(path: string, body: object): Promise<unknown> {
    return await this.send("POST", path, body);
  }

  /** One write by the REST API with the admin key. @throws for an answer other than 2xx. */
  async send(method: "POST" | "PUT" | "PATCH", path: string, body: object): Promise<unknown> {
    const answer = await request(`${this.demo.base_url}${path}`, {
      dispatcher: this.#agent,
      method,
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${this.demo.keys.admin}`,
        "content-type": "application/json",
      },
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: HTTP ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until request `number`, from 0, is due at a steady rate. Returns at once if it is late. `startedMs` is monotonic. */
export async function pauseUntilDue(
  number: number,
  { startedMs, perSecond }: { readonly startedMs: number; readonly perSecond: number },
): Promise<void> {
  const earlyMs = startedMs + (number * 1_000) / perSecond - performance.now();
  if (earlyMs > 0) await pause(earlyMs);
}
