import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { workspaceOfCall } from "../../schemas/catalog/workspace-of-call.ts";
import type { InboundCall } from "../../schemas/events/inbound-call.ts";
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

/** Why ingress refuses a report or a landing call by itself. */
export type Refusal = Pick<InboundCall, "endpoint" | "httpStatus" | "result" | "message"> & {
  /** What was read of a body; it goes before the query. */
  readonly params?: Readonly<Record<string, string>>;
};

const PAIRS_MAX = 64;
const TEXT_LENGTH_MAX = 255;

/** Hands a refusal to the inbound log, under the workspace that its token or its tracking domain names. */
export function tellRefusal(deps: RefusalDeps, request: RawRequest, refusal: Refusal): void {
  const { catalog, clock, trustedProxies, inboundLog } = deps;
  const { params: read = {}, ...told } = refusal;
  // What a landing page sends along may name a person (P31).
  const query = told.endpoint === "lp" ? [] : pairsOf(request.query);
  const params = shortened([...Object.entries(read), ...query]);
  const host = trackingHostOf(request.headers.host);
  inboundLog.add({
    ...told,
    workspaceId: workspaceOfCall(catalog, { token: params["token"] ?? "", host })?.id ?? null,
    receivedAtMs: clock.nowMs(),
    ip: clientIp(request, trustedProxies),
    params,
    clickId: null,
  });
}

/** As far as it can be read: what is wrong with it may be the reason of the refusal. */
function pairsOf(query: string): [name: string, value: string][] {
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
