import { isProxysRequestId, newRequestId } from "../../schemas/ids/request-id.ts";
import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { RawRequest } from "../route.ts";

type Parts = Omit<RawRequest, "requestId">;

/** What the server knows about the route of a request. */
export type RouteFacts = {
  /** "" for a path without a route. */
  readonly pattern: string;
  /** Whether every answer shows the ID of its request, and not only errors. */
  readonly showsId: boolean;
};

/** A request whose ID is made when the ID is first read. A click that was made before then names its request. */
export class ReceivedRequest implements RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peerIp: string;
  readonly headers: RawRequest["headers"];
  readonly route: RouteFacts;
  /** By `performance.now()`; 0 while nobody asks for durations. */
  startedAtMs = 0;
  clickId = "";
  /** Why the answer is what it is: one of our words. */
  reason = "";
  readonly #proxies: TrustedProxies;
  #requestId = "";

  constructor(parts: Parts, route: RouteFacts, proxies: TrustedProxies) {
    this.method = parts.method;
    this.path = parts.path;
    this.query = parts.query;
    this.peerIp = parts.peerIp;
    this.headers = parts.headers;
    this.route = route;
    this.#proxies = proxies;
  }

  get requestId(): string {
    if (this.#requestId === "") this.#requestId = this.#findId();
    return this.#requestId;
  }

  /** Takes what the route has found. */
  decided({ clickId, reason }: { readonly clickId?: string; readonly reason?: string }): void {
    if (reason !== undefined) this.reason = reason;
    if (clickId === undefined) return;
    this.clickId = clickId;
    if (this.#requestId === "") this.#requestId = clickId;
  }

  /** The ID of a trusted proxy, else a new one: a stranger must not choose what stands in our logs. */
  #findId(): string {
    const given = this.headers.xRequestId;
    const isKept = isProxysRequestId(given) && this.#proxies.hop(this.peerIp).isTrusted;
    return isKept ? given : newRequestId();
  }
}
