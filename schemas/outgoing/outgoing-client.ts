import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, request } from "undici";
import { isLoopbackAddress, isPublicAddress } from "../net/public-address.ts";
import {
  ForbiddenDestinationError,
  type OutgoingFailure,
  outgoingFailure,
  RedirectError,
} from "./outgoing-failure.ts";
import { isOwnPort, NO_OWN_SERVERS, type OwnServers, ownAddressesAt } from "./own-servers.ts";
import { resolveHost } from "./resolve-host.ts";

export type OutgoingRequest = {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Limit for the whole request: name, connection, answer, redirects. Default and maximum: 10 s. */
  readonly timeoutMs?: number;
  /** How many redirects to follow, each only to a public address. Default 0: a redirect is then an answer like any other. */
  readonly redirectsMax?: number;
  /**
   * Name of the connection pool, such as an endpoint. Each name has at most 8 concurrent requests per origin, and does not wait for other
   * names. Default "".
   */
  readonly connectionsOf?: string;
};

export type OutgoingAnswer = {
  readonly status: number;
  readonly statusText: string;
  /** The first 2 KiB. */
  readonly body: string;
  /** The header as received; "" if absent. */
  readonly retryAfter: string;
  /** The target of the redirect, as received; "" if absent. */
  readonly location: string;
};

export type OutgoingReach = {
  /** Also allow loopback addresses, for tests (ALLOW_PRIVATE_DESTINATIONS, G127). */
  readonly allowLoopback: boolean;
  /** Stay refused, on loopback and elsewhere. Default: none, for tests. */
  readonly own?: OwnServers;
  /** Name servers as `address:port`, instead of the system's. */
  readonly nameServers?: readonly string[];
};

/** The result of a request. Errors are part of it, not thrown. */
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
/** Connections to one origin, for each value of `connectionsOf`. */
const CONNECTIONS_PER_ORIGIN = 8;
/** Connection pools that stay open. Beyond this, the least recently used one is closed. */
const AGENTS_MAX = 1_024;
const IDLE_MS = 4_000;

/**
 * Sends requests to URLs of customers. It resolves the host name, drops addresses that are not public, and connects to a checked address
 * (G127), so a name that resolves differently the second time cannot bypass the check. The same applies to each redirect. Servers of this
 * installation are refused at any address.
 */
export class OutgoingClient {
  readonly #connect: buildConnector.connector;
  /** By `connectionsOf`, the most recently used last. */
  readonly #agents = new Map<string, Agent>();

  constructor(reach: OutgoingReach) {
    this.#connect = connectorOf(reach);
  }

  /**
   * Returns an answer of any status.
   * @throws {ForbiddenDestinationError} if the destination is not public or not http(s); {RedirectError} for a redirect that is not
   * followed; else errors of the network or the time-out.
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

  /** Like {@link send}, but returns errors in the form of the delivery log. */
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

/** The next request of a redirect. It has a body only if the status keeps the method (RFC 9110, 15.4). */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = URL.canParse(location, hop.url.href) ? new URL(location, hop.url) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new RedirectError("redirect to a non-http(s) URL");
  if (status === 307 || status === 308 || hop.method === "GET") return { ...hop, url };
  const headers = Object.entries(hop.headers).filter(([name]) => name !== "content-type");
  return { url, method: "GET", headers: Object.fromEntries(headers), body: null };
}

/** Reads the body up to the limit; closes the connection if it is longer. */
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

function connectorOf(reach: OutgoingReach): buildConnector.connector {
  const { allowLoopback, nameServers, own = NO_OWN_SERVERS } = reach;
  const isReachable = (address: string): boolean =>
    isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));
  const connect = connectorTo(isReachable, nameServers);
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    if (!isOwnPort(own, port)) {
      connect(options, callback);
      return;
    }
    ownAddressesAt(own, port, nameServers).then(
      (isOwn) => {
        const isOther = (address: string): boolean => isReachable(address) && !isOwn(address);
        connectorTo(isOther, nameServers)(options, callback);
      },
      (error: unknown) =>
        callback(error instanceof Error ? error : forbidden(options.hostname), null),
    );
  };
}

/** Connects to the addresses for which `isReachable` is true. */
function connectorTo(
  isReachable: (address: string) => boolean,
  nameServers: readonly string[] | undefined,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: TIMEOUT_MS,
    // The socket calls this function and connects to an address that it returns.
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
    // The socket would connect to a literal address without a look-up, so check it here.
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
  return new ForbiddenDestinationError(`${host} is no address for requests of customers`);
}
