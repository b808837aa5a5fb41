import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, request } from "undici";
import { isLoopbackAddress, isPublicAddress } from "../net/public-address.ts";
import {
  ForbiddenDestinationError,
  type OutgoingFailure,
  outgoingFailure,
  RedirectError,
} from "./outgoing-failure.ts";
import { resolveHost } from "./resolve-host.ts";

export type OutgoingRequest = {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For everything: name, connection, answer, redirects. At most, and by default, 10 s. */
  readonly timeoutMs?: number;
  /** How many redirects are followed, each to a public address only. 0 by default: then one is an answer like any other. */
  readonly redirectsMax?: number;
  /**
   * Whose connections it uses, such as one endpoint: at most 8 requests at a time to an origin, and none waits for those of
   * another name. "" by default.
   */
  readonly connectionsOf?: string;
};

export type OutgoingAnswer = {
  readonly status: number;
  readonly statusText: string;
  /** The first 2 KiB. */
  readonly body: string;
  /** As it came; "" for none. */
  readonly retryAfter: string;
  /** Where it redirects to, as it came; "" for none. */
  readonly location: string;
};

export type OutgoingReach = {
  /** Reach loopback addresses too, for trying it out (ALLOW_PRIVATE_DESTINATIONS, G127). */
  readonly allowLoopback: boolean;
  /** Instead of the system's, as `address:port`. */
  readonly nameServers?: readonly string[];
};

/** What came of a request; nothing of it is thrown. */
export type OutgoingAttempt =
  | ({ readonly kind: "answered" } & OutgoingAnswer)
  | ({ readonly kind: "failed" } & OutgoingFailure);

type Hop = Required<Pick<OutgoingRequest, "url" | "method" | "headers">> & {
  readonly body: string | null;
};

const TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 2_048;
const HEADER_BYTES_MAX = 16_384;
const STATUS_TEXT_MAX = 100;
const REDIRECTS = [301, 302, 303, 307, 308];
/** To one origin, for each value of `connectionsOf`. */
const CONNECTIONS_PER_ORIGIN = 8;
/** Groups of connections that are kept for the next request; the one used longest ago is closed. */
const AGENTS_MAX = 1_024;
const IDLE_MS = 4_000;

/**
 * Sends requests to addresses that customers name. A name is resolved first, what is not public is left out, and the connection
 * goes to the very address that was looked at (G127): a name that resolves differently the second time gains nothing.
 * So it is at each redirect, where they are followed.
 */
export class OutgoingClient {
  readonly #connect: buildConnector.connector;
  /** By `connectionsOf`, the one used last at the end. */
  readonly #agents = new Map<string, Agent>();

  constructor(reach: OutgoingReach) {
    this.#connect = connectorOf(reach);
  }

  /**
   * Any status is an answer.
   * @throws {ForbiddenDestinationError} for what is not public, or no http(s); {RedirectError} for one that is not followed;
   * else what the network or the time-out says.
   */
  async send(outgoing: OutgoingRequest): Promise<OutgoingAnswer> {
    const { url, method, headers = {}, body = null, timeoutMs = TIMEOUT_MS } = outgoing;
    const { redirectsMax = 0, connectionsOf = "" } = outgoing;
    const agent = this.#agentOf(connectionsOf);
    const signal = AbortSignal.timeout(Math.min(timeoutMs, TIMEOUT_MS));
    let hop: Hop = { url, method, headers, body };
    for (let redirects = 0; ; redirects += 1) {
      const answer = await ask(agent, hop, signal);
      const { location } = answer;
      if (redirectsMax === 0 || location === "" || !REDIRECTS.includes(answer.status))
        return answer;
      if (redirects === redirectsMax)
        throw new RedirectError(`stopped after ${redirectsMax} redirects`);
      hop = nextHop(hop, answer.status, location);
    }
  }

  /** {@link send} in the words of the delivery log. */
  async attempt(outgoing: OutgoingRequest): Promise<OutgoingAttempt> {
    try {
      return { kind: "answered", ...(await this.send(outgoing)) };
    } catch (error) {
      return { kind: "failed", ...outgoingFailure(error) };
    }
  }

  #agentOf(name: string): Agent {
    const agent =
      this.#agents.get(name) ??
      new Agent({
        connect: this.#connect,
        connections: CONNECTIONS_PER_ORIGIN,
        pipelining: 1,
        keepAliveTimeout: IDLE_MS,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
      });
    this.#agents.delete(name);
    this.#agents.set(name, agent);
    if (this.#agents.size > AGENTS_MAX) this.#closeOldest();
    return agent;
  }

  #closeOldest(): void {
    for (const [name, agent] of this.#agents) {
      this.#agents.delete(name);
      // Its requests under way end first.
      agent.close().catch(() => undefined);
      return;
    }
  }

  /** What is under way is cut off. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
}

async function ask(
  agent: Agent,
  { url, method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ForbiddenDestinationError(`${url.protocol} is not for requests`);
  const options = { dispatcher: agent, method, headers, body, signal };
  const response = await request(url, options);
  const { "retry-after": retryAfter, location } = response.headers;
  return {
    status: response.statusCode,
    statusText: response.statusText.slice(0, STATUS_TEXT_MAX),
    body: await firstBytes(response.body),
    retryAfter: typeof retryAfter === "string" ? retryAfter : "",
    location: typeof location === "string" ? location : "",
  };
}

/** Where a redirect leads, with a body only where its status keeps the method (RFC 9110, 15.4). */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = URL.canParse(location, hop.url.href) ? new URL(location, hop.url) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new RedirectError("redirect to a non-http(s) URL");
  if (status === 307 || status === 308 || hop.method === "GET") return { ...hop, url };
  const headers = Object.entries(hop.headers).filter(([name]) => name !== "content-type");
  return { url, method: "GET", headers: Object.fromEntries(headers), body: null };
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

function connectorOf({ allowLoopback, nameServers }: OutgoingReach): buildConnector.connector {
  const isReachable = (address: string): boolean =>
    isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));
  const connect = buildConnector({
    timeout: TIMEOUT_MS,
    // As the socket asks for it: what it gets is what it connects to.
    lookup: (hostname, options, callback) => {
      resolveHost(hostname, nameServers).then(
        (addresses) =>
          answerLookup(hostname, addresses.filter(isReachable), {
            isAll: options.all === true,
            callback,
          }),
        (error: unknown) => callback(error instanceof Error ? error : forbidden(hostname), ""),
      );
    },
  });
  return (options, callback) => {
    // An address is not looked up: the socket would take it as it is.
    const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !isReachable(host)) callback(forbidden(host), null);
    else connect(options, callback);
  };
}

function answerLookup(
  hostname: string,
  reachable: readonly string[],
  { isAll, callback }: { isAll: boolean; callback: Parameters<LookupFunction>[2] },
): void {
  const addresses = reachable.map((address) => ({ address, family: isIP(address) }));
  const [first] = addresses;
  if (first === undefined) callback(forbidden(hostname), "");
  else if (isAll) callback(null, addresses);
  else callback(null, first.address, first.family);
}

function forbidden(host: string): ForbiddenDestinationError {
  return new ForbiddenDestinationError(`${host} is not a public address`);
}
