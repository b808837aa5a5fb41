import { errorOf, type TrackerError } from "./tracker-error.ts";

export type TrackerOptions = {
  readonly apiKey: string;
  /** Address of the REST API with `/api/v1`. */
  readonly baseUrl: string;
  /** How often a GET is sent again after 429 or 503; 3 by default. Nothing else is ever sent twice. */
  readonly retries?: number;
  /** Milliseconds until an attempt is given up; 60,000 by default. */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
};

/** A value of a path or query. A list is sent as text with commas. */
export type Value = string | number | boolean;
export type Query = Readonly<Record<string, Value | readonly Value[] | null | undefined>>;

export type Request = {
  readonly method: string;
  /** With parameters as `{id}`. */
  readonly path: string;
  readonly pathValues?: Readonly<Record<string, Value>> | undefined;
  readonly query?: Query | undefined;
  /** An object is sent as JSON, text as CSV, bytes as they are. */
  readonly body?: unknown;
  readonly accept: "application/json" | "text/csv";
  readonly signal?: AbortSignal | undefined;
};

const RETRIES = 3;
const TIMEOUT_MS = 60_000;
const SECOND_MS = 1_000;
/** The service never asks for more than a minute. */
const WAIT_SECONDS_MAX = 60;
const FILE_TYPE = "application/octet-stream";
const RETRYABLE: ReadonlySet<number> = new Set([429, 503]);

/** Sends requests with the key, waits and repeats where that is safe, and throws refusals. */
export class Transport {
  readonly #options: TrackerOptions;

  constructor(options: TrackerOptions) {
    this.#options = options;
  }

  /** The text of a successful answer. @throws {TrackerError} */
  async send(request: Request): Promise<string> {
    const retries = request.method === "GET" ? (this.#options.retries ?? RETRIES) : 0;
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.#fetch(request);
      const text = await response.text();
      if (response.ok) return text;
      const error = errorOf(response, text);
      if (attempt >= retries || !RETRYABLE.has(response.status)) throw error;
      await wait(secondsToWait(error, attempt), request.signal);
    }
  }

  async #fetch({ method, path, pathValues = {}, query, body, accept, signal }: Request) {
    const { apiKey, baseUrl, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#options;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(pathValues[name])),
    );
    const timeout = AbortSignal.timeout(timeoutMs);
    const { type, sent } = sentBody(body);
    return await fetch(`${baseUrl.replace(/\/$/, "")}${filled}${queryText(query)}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept,
        ...(type === undefined ? {} : { "content-type": type }),
      },
      body: sent,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  }
}

function sentBody(body: unknown): {
  readonly type?: string;
  readonly sent: Blob | Uint8Array<ArrayBuffer> | string | null;
} {
  if (body === undefined) return { sent: null };
  if (typeof body === "string") return { type: "text/csv", sent: body };
  if (body instanceof Blob) return { type: FILE_TYPE, sent: body };
  if (body instanceof Uint8Array) return { type: FILE_TYPE, sent: new Uint8Array(body) };
  return { type: "application/json", sent: JSON.stringify(body) };
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

function secondsToWait({ retryAfter }: TrackerError, attempt: number): number {
  return Math.min(retryAfter ?? 2 ** attempt, WAIT_SECONDS_MAX);
}

/** @throws what the signal was aborted with. */
async function wait(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * SECOND_MS);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
