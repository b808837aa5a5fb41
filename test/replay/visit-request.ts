import type { HttpAnswer } from "../system/service.ts";
import type { PlannedVisit } from "./plan.ts";
import type { World } from "./world.ts";

export type VisitRequest = {
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
};

const SERVER_AGENT = "advertiser-server/1.0";

/** One attempt of a visit. It carries run, line and attempt as sub1, sub2 and sub3. */
export function visitRequest(
  world: World,
  visit: PlannedVisit,
  attempt: { readonly run: string; readonly number: number },
): VisitRequest {
  const { line, target } = visit;
  const isByServer = target.kind === "link" && target.form === "server";
  const params = new URLSearchParams({
    sub1: attempt.run,
    sub2: String(line.number),
    sub3: String(attempt.number),
    ...(visit.sub4 === "" ? {} : { sub4: visit.sub4 }),
    page: line.path,
    ...namingParams(world, visit),
  });
  const url = "url" in target && target.url !== undefined ? target.url.text : undefined;
  // `url` is the last parameter and escaped once, as ad platforms send it.
  const suffix = url === undefined ? "" : `&url=${encodeURIComponent(url)}`;
  return {
    path: `${pathOf(visit)}?${params}${suffix}`,
    headers: {
      ...(world.host === "" ? {} : { host: world.host }),
      // An advertiser's server calls for its visitor: its own address and user agent must not count.
      ...(isByServer ? { "user-agent": SERVER_AGENT } : browserHeaders(visit)),
    },
  };
}

function browserHeaders({ line }: PlannedVisit): Record<string, string> {
  return {
    "x-forwarded-for": line.ip,
    ...(line.userAgent === "" ? {} : { "user-agent": line.userAgent }),
    ...(line.referrer === "" ? {} : { referer: line.referrer }),
  };
}

function pathOf({ target, partner }: PlannedVisit): string {
  switch (target.kind) {
    case "impression":
      return `/i/${target.offer.code}/${partner.code}`;
    case "unknown":
      return `/r/NOSUCHOFFER/${partner.code}`;
    case "smart":
      return target.form === "path"
        ? `/s/${target.link.code}-${partner.code}`
        : `/s/${target.link.code}`;
    case "link":
      break;
  }
  switch (target.form) {
    case "path":
      return `/r/${target.offer.code}/${partner.code}`;
    case "query":
      return "/click";
    case "server":
      return "/clk";
    case "key":
      return `/c/${target.key ?? `${target.offer.code}-${partner.code}`}`;
  }
}

/** Query parameters that name the offer, the partner and the visitor where the path does not. */
function namingParams(
  world: World,
  { target, partner, line }: PlannedVisit,
): Record<string, string> {
  if (target.kind === "smart") return target.form === "query" ? { aid: partner.code } : {};
  if (target.kind !== "link") return {};
  const { code } = target.offer;
  if (target.form === "query") return { oid: code, aid: String(partner.id) };
  if (target.form !== "server") return {};
  const { ip, userAgent } = line;
  const token = world.postbackToken;
  return { oid: code, affid: partner.code, token, ip, user_agent: userAgent };
}

/** The user agent that the service records. If a server sends none for its visitor, the server's own is recorded. */
export function userAgentOf({ line, target }: PlannedVisit): string {
  const isByServer = target.kind === "link" && target.form === "server";
  return isByServer && line.userAgent === "" ? SERVER_AGENT : line.userAgent;
}

/** The parts of an answer that the visitor gets. */
export type VisitAnswer = {
  readonly status: number;
  /** "" if it has none. */
  readonly clickId: string;
  /** Location; "" without one. */
  readonly location: string;
  /** `error` of a refusal, `error_code` of `/clk`; "" without either. */
  readonly error: string;
};

export function readVisitAnswer({ status, headers, body }: HttpAnswer): VisitAnswer {
  const json = String(headers["content-type"] ?? "").startsWith("application/json") ? body : "";
  const cookie = /trk_cid=([0-9a-f]{32})/.exec(String(headers["set-cookie"] ?? ""))?.[1];
  return {
    status,
    clickId: cookie ?? /"transaction_id":"([0-9a-f]{32})"/.exec(json)?.[1] ?? "",
    location: String(headers["location"] ?? ""),
    error: /"error(?:_code)?":"?(\w+)"?/.exec(json)?.[1] ?? "",
  };
}
