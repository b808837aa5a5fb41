import { isProxysRequestId, newRequestId } from "../../schemas/ids/request-id.ts";
import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { RawRequest } from "../route.ts";

type Parts = Omit<RawRequest, "requestId">;

/** A request whose ID is made when it is first read. A click that was made before that names its request. */
export class ReceivedRequest implements RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peerIp: string;
  readonly headers: RawRequest["headers"];
  readonly #proxies: TrustedProxies;
  #requestId = "";

  constructor({ method, path, query, peerIp, headers }: Parts, proxies: TrustedProxies) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.peerIp = peerIp;
    this.headers = headers;
    this.#proxies = proxies;
  }

  get requestId(): string {
    if (this.#requestId === "") this.#requestId = this.#findId();
    return this.#requestId;
  }

  nameAfterClick(clickId: string | undefined): void {
    if (clickId !== undefined && this.#requestId === "") this.#requestId = clickId;
  }

  /** The ID of a trusted proxy, else a new one: a stranger must not choose what stands in our logs. */
  #findId(): string {
    const given = this.headers.xRequestId;
    const isKept = isProxysRequestId(given) && this.#proxies.hop(this.peerIp).isTrusted;
    return isKept ? given : newRequestId();
  }
}
