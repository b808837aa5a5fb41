import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { workspaceOfCall } from "../../schemas/catalog/workspace-of-call.ts";
import type { CallEndpoint, CallResult, InboundCall } from "../../schemas/events/inbound-call.ts";
import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { clientIp } from "../request/client-ip.ts";
import { decodeComponent } from "../request/decode.ts";
import { trackingHostOf } from "../request/visit.ts";
import type { RawRequest } from "../route.ts";
import type { InboundLog } from "./inbound-log.ts";

export type RefusalDeps = {
  readonly inboundLog: Pick<InboundLog, "add">;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly trustedProxies: TrustedProxies;
};

/** A refusal of a report or a landing call by ingress itself. */
export type Refusal = Pick<InboundCall, "httpStatus" | "message"> & {
  readonly endpoint: CallEndpoint;
  readonly result: CallResult;
  /** Parameters read from a body. They win over the query. */
  readonly params?: Readonly<Record<string, string>>;
};

const PAIRS_MAX = 64;
const TEXT_LENGTH_MAX = 255;

/** Sends a refusal to the inbound log, under the workspace that its token or its tracking domain names. */
export function reportRefusal(deps: RefusalDeps, request: RawRequest, refusal: Refusal): void {
  const { catalog, clock, trustedProxies, inboundLog } = deps;
  const { params: read = {}, ...call } = refusal;
  // The query of a landing page or of a visitor's link may contain personal data (P31).
  const isOfVisitor = call.endpoint === "lp" || call.endpoint === "link";
  const query = isOfVisitor ? [] : pairsOf(request.query);
  const params = shortened([...Object.entries(read), ...query]);
  const host = trackingHostOf(request.headers.host);
  const atMs = clock.nowMs();
  inboundLog.add({
    ...call,
    workspaceId: workspaceOfCall(catalog, { token: params["token"] ?? "", host, atMs })?.id ?? null,
    requestId: request.requestId,
    receivedAtMs: atMs,
    ip: clientIp(request, trustedProxies),
    params,
    clickId: null,
  });
}

/** Reads as much as possible, because a fault in the query may be the reason for the refusal. */
export function pairsOf(query: string): [name: string, value: string][] {
  return query.split("&", PAIRS_MAX).map((pair) => {
    const equals = pair.indexOf("=");
    return equals < 0
      ? [decodeComponent(pair), ""]
      : [decodeComponent(pair.slice(0, equals)), decodeComponent(pair.slice(equals + 1))];
  });
}

/** The first value of a name counts (G119). */
function shortened(pairs: readonly [name: string, value: string][]): Record<string, string> {
  const params = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.slice(0, TEXT_LENGTH_MAX);
    if (params.size >= PAIRS_MAX) break;
    if (key !== "" && !params.has(key)) params.set(key, value.slice(0, TEXT_LENGTH_MAX));
  }
  return Object.fromEntries(params);
}
