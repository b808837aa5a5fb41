import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, request } from "undici";
import { isPublicAddress } from "./public-address.ts";

export type OutgoingRequest = {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For everything: name, connection, answer. At most, and by default, 10 s. */
  readonly timeoutMs?: number;
};

export type OutgoingAnswer = {
  readonly status: number;
  /** The first 2 KiB. */
  readonly body: string;
  /** As it came; "" for none. */
  readonly retryAfter: string;
};

/** The destination may not be reached from here: asking again changes that only if its name then leads elsewhere. */
export class ForbiddenDestinationError extends Error {
  override readonly name = "ForbiddenDestinationError";
}

const TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 2_048;
const HEADER_BYTES_MAX = 16_384;
const CONNECTIONS_AN_ORIGIN = 8;
const IDLE_MS = 4_000;

/**
 * Sends requests to addresses that customers name. A name is resolved first, what is not public is left out, and the connection
 * goes to the very address that was looked at (G127): a name that resolves differently the second time gains nothing.
 * Redirects are not followed.
 */
export class OutgoingClient {
  readonly #agent: Agent;

  /** `allowPrivate`: reach loopback and private addresses too, for trying it out (ALLOW_PRIVATE_DESTINATIONS). */
  constructor({ allowPrivate }: { readonly allowPrivate: boolean }) {
    this.#agent = new Agent({
      connect: connectorOf(allowPrivate),
      connections: CONNECTIONS_AN_ORIGIN,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
    });
  }

  /**
   * Any status is an answer.
   * @throws {ForbiddenDestinationError} for what is not public, or no http(s); else what the network or the time-out says.
   */
  async send(outgoing: OutgoingRequest): Promise<OutgoingAnswer> {
    const { url, method, headers = {}, body = null, timeoutMs = TIMEOUT_MS } = outgoing;
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new ForbiddenDestinationError(`${url.protocol} is not for requests`);
    const signal = AbortSignal.timeout(Math.min(timeoutMs, TIMEOUT_MS));
    const options = { dispatcher: this.#agent, method, headers, body, signal };
    const answer = await request(url, options);
    const { "retry-after": retryAfter } = answer.headers;
    return {
      status: answer.statusCode,
      body: await firstBytes(answer.body),
      retryAfter: typeof retryAfter === "string" ? retryAfter : "",
    };
  }

  /** What is under way is cut off. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Ends the connection of an answer that is longer. */
async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= BODY_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, BODY_BYTES_MAX).toString("utf8");
}

function connectorOf(allowPrivate: boolean): buildConnector.connector {
  if (allowPrivate) return buildConnector({ timeout: TIMEOUT_MS });
  const connect = buildConnector({ timeout: TIMEOUT_MS, lookup: lookupPublic });
  return (options, callback) => {
    // An address is not looked up: the socket would take it as it is.
    const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !isPublicAddress(host)) callback(forbidden(host), null);
    else connect(options, callback);
  };
}

/** As the socket asks for it: what it gets is what it connects to. */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, "");
      return;
    }
    const reachable = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = reachable;
    if (first === undefined) callback(forbidden(hostname), "");
    else answerLookup(options.all === true, reachable, first, callback);
  });
};

function answerLookup(
  isAll: boolean,
  addresses: LookupAddress[],
  first: LookupAddress,
  callback: Parameters<LookupFunction>[2],
): void {
  if (isAll) callback(null, addresses);
  else callback(null, first.address, first.family);
}

function forbidden(host: string): ForbiddenDestinationError {
  return new ForbiddenDestinationError(`${host} is not a public address`);
}
