import type { LinkType } from "../../schemas/events/click-record.ts";
import { isUnsafe, isUnsafeIn } from "../decide/blocklist.ts";
import { chooseOffer } from "../decide/choose-offer.ts";
import { type Click, judgeClick, noteTaken } from "../decide/click-conditions.ts";
import { clickLine } from "../decide/click-line.ts";
import {
  decideWithoutUrl,
  decideWithUrl,
  type Outcome,
  type Subject,
  subjectOf,
} from "../decide/decide-click.ts";
import {
  findLinkKey,
  findOfferLink,
  findSmartLink,
  linkScopeOf,
  type OfferLink,
  type SmartLinkHit,
} from "../decide/find-link.ts";
import { LinkMemory } from "../decide/link-memory.ts";
import { isAllowedAnywhere } from "../decide/offer-rules.ts";
import { readTargetUrl } from "../decide/target-url.ts";
import { decodePercent } from "../request/decode.ts";
import {
  type ClickParameters,
  LINK_PARAMETERS,
  ParameterReader,
  type ParameterSet,
  QUERY_LINK_PARAMETERS,
  SMART_LINK_PARAMETERS,
} from "../request/parameters.ts";
import { straightCode, straightened } from "../request/pasted-link.ts";
import { isUnseenRequest } from "../request/unseen-request.ts";
import { readVisit, type Visit } from "../request/visit.ts";
import type { RawRequest, Route, RouteResult } from "../route.ts";
import { notLoaded, visitorAnswer, visitorError } from "./click-answers.ts";
import type { ClickDeps } from "./click-deps.ts";
import { impressionRoute } from "./impression.ts";
import { serverClickRoute } from "./server-click.ts";

export type ClickRoute = {
  /** Pattern of uWebSockets.js. */
  readonly pattern: string;
  /** Other methods are answered by {@link methodNotAllowed}. */
  readonly methods: readonly string[];
  readonly route: Route;
};

const CLICK_METHODS = ["GET", "HEAD", "POST"];

/** A link as requested. */
type Found = {
  readonly linkType: LinkType;
  readonly parameters: ClickParameters;
  /** The query that they were read from. */
  readonly query: string;
  readonly set: ParameterSet;
  readonly link: OfferLink | SmartLinkHit | undefined;
};

type Target = Pick<RawRequest, "path" | "query">;
type Find = (deps: ClickDeps, target: Target, visit: Visit) => Found;

/** Every path that is answered at once, without reading a body. */
export function clickRoutes(deps: ClickDeps): ClickRoute[] {
  const click = (find: Find): Route => {
    return (request) => answerClick(deps, request, find);
  };
  return [
    { pattern: "/r/:offer/:affiliate", methods: CLICK_METHODS, route: click(findByPath()) },
    { pattern: "/c/:key", methods: CLICK_METHODS, route: click(findByKey()) },
    { pattern: "/s/:link", methods: CLICK_METHODS, route: click(findBySmartLink) },
    { pattern: "/click", methods: CLICK_METHODS, route: click(findByQuery) },
    { pattern: "/i/:offer/:affiliate", methods: ["GET", "HEAD"], route: impressionRoute(deps) },
    // POST has a body, so it has a route of its own: serverClickRoutes.
    { pattern: "/clk", methods: ["GET"], route: serverClickRoute(deps) },
  ];
}

function findByPath(): Find {
  const memory = new LinkMemory<OfferLink>();
  return ({ catalog }, { path, query }, { domain }) => ({
    linkType: "affiliate",
    parameters: read(query, LINK_PARAMETERS),
    query,
    set: LINK_PARAMETERS,
    link: memory.find(catalog, domain, path, () => {
      const [, , offer = "", affiliate = ""] = path.split("/").map(decodePercent);
      return findOfferLink(linkScopeOf(catalog, domain), offer, affiliate);
    }),
  });
}

function findByKey(): Find {
  const memory = new LinkMemory<OfferLink>();
  return ({ catalog }, { path, query }, { domain }) => ({
    linkType: "transparent",
    parameters: read(query, LINK_PARAMETERS),
    query,
    set: LINK_PARAMETERS,
    link: memory.find(catalog, domain, path, () => {
      const [, , key = ""] = path.split("/").map(decodePercent);
      return findLinkKey(linkScopeOf(catalog, domain), key);
    }),
  });
}

function findByQuery({ catalog }: ClickDeps, { query }: Target, { domain }: Visit): Found {
  const set = QUERY_LINK_PARAMETERS;
  const parameters = read(query, set);
  const { offer, affiliate } = parameters.values;
  const scope = linkScopeOf(catalog, domain);
  const link =
    findOfferLink(scope, offer, affiliate) ??
    findOfferLink(scope, straightCode(offer), straightCode(affiliate));
  return { linkType: "affiliate", parameters, query, set, link };
}

function findBySmartLink({ catalog }: ClickDeps, target: Target, { domain }: Visit): Found {
  const [, , segment = ""] = target.path.split("/").map(decodePercent);
  const { query } = target;
  const set = SMART_LINK_PARAMETERS;
  const parameters = read(query, set);
  const { affiliate } = parameters.values;
  const scope = linkScopeOf(catalog, domain);
  const link =
    findSmartLink(scope, segment, affiliate) ??
    (affiliate === "" ? undefined : findSmartLink(scope, segment, straightCode(affiliate)));
  return { linkType: "smart", parameters, query, set, link };
}

/** Copying may have changed a link. One that is not found as it was sent is repaired and looked up once more (G241). */
function findLink(deps: ClickDeps, request: RawRequest, visit: Visit, find: Find): Found {
  const found = find(deps, request, visit);
  if (found.link !== undefined) return found;
  const straight = straightened(request);
  const again = straight === undefined ? undefined : find(deps, straight, visit);
  return again?.link === undefined ? found : again;
}

function read(query: string, set: ParameterSet): ClickParameters {
  return new ParameterReader(set).addQuery(query).read();
}

/** Answers within this turn of the event loop: nothing here awaits. */
function answerClick(deps: ClickDeps, request: RawRequest, find: Find): RouteResult {
  const { catalog } = deps;
  if (!catalog.isLoaded) return { answer: notLoaded(), reason: "not_loaded" };
  const seen = readVisit(request, deps, catalog.secret);
  const found = findLink(deps, request, seen, find);
  const { link, linkType } = found;
  // Ad platforms request a transparent link beside the visitor, so how it is requested says nothing.
  const isUnseen = linkType !== "transparent" && isUnseenRequest(request.headers);
  const visit = isUnseen ? { ...seen, isBot: true } : seen;
  if (link !== undefined) {
    const cookie = { isLeft: isUnseen, sent: request.headers.cookie };
    return answerFound(deps, { found, link, visit, cookie });
  }
  const result = answerUnknownLink(deps, visit, found);
  deps.noteUnknownLink?.(request, result.answer.status);
  return result;
}

type FoundLink = {
  readonly found: Found;
  readonly link: OfferLink | SmartLinkHit;
  readonly visit: Visit;
  /** The Cookie header, and whether the visitor's cookies are left as they are. */
  readonly cookie: { readonly isLeft: boolean; readonly sent: string };
};

function answerFound(deps: ClickDeps, { found, link, visit, cookie }: FoundLink): RouteResult {
  const { catalog } = deps;
  const { parameters, linkType } = found;
  const { urls } = parameters;
  if (linkType === "transparent" && urls.length === 0) {
    return { answer: visitorError(400, "missing_url"), reason: "missing_url" };
  }
  const random = deps.random ?? Math.random;
  const mint = deps.mint();
  const click: Click = {
    catalog,
    state: deps.state,
    workspace: link.workspace,
    affiliate: link.affiliate,
    visit,
    values: parameters.values,
    query: found.query,
    set: found.set,
    atMs: mint.nowMs(),
    isPartnerLink: linkType === "affiliate",
  };
  const subject = subjectOfLink(click, link, random);
  const outcome =
    urls.length > 0
      ? decideWithUrl(click, subject, readTargetUrl(urls), { mint, random })
      : decideWithoutUrl(click, subject, { mint, random });
  if (outcome.status === "redirect") noteTaken(click, outcome.offer, outcome.reason);
  return {
    answer: answerOf(outcome, visit, cookie),
    clickId: outcome.clickId,
    reason: outcome.reason,
    recorded: {
      lane: catalog.routedLanes.ofOffer(outcome.offer?.id ?? 0),
      line: clickLine({
        atMs: click.atMs,
        linkType,
        outcome,
        workspace: link.workspace,
        affiliate: link.affiliate,
        smartLinkId: "smartLink" in link ? link.smartLink.id : 0,
        link: "smartLink" in link ? undefined : link,
        visit,
        parameters,
        catalogVersion: catalog.version,
      }),
    },
  };
}

/** Unknown link. Still redirect to an allowed `url=`: the visitor should not be stranded (T15, G140). */
function answerUnknownLink(deps: ClickDeps, visit: Visit, found: Found): RouteResult {
  const { catalog } = deps;
  const { parameters, linkType } = found;
  const unknown = { answer: visitorError(404, "unknown_link"), reason: "unknown_link" };
  if (parameters.urls.length === 0) return unknown;
  const target = readTargetUrl(parameters.urls);
  if (target.refusal !== "" || isUnsafe(catalog, target)) return unknown;
  const { workspaceIds } = linkScopeOf(catalog, visit.domain);
  // A workspace may block the target for its own clicks. Another workspace of the host may still allow it.
  const open =
    catalog.workspaceBlocklist.size === 0
      ? workspaceIds
      : workspaceIds.filter((id) => !isUnsafeIn(catalog, id, target));
  if (!isAllowedAnywhere(catalog, open, target)) return unknown;
  const mint = deps.mint();
  const atMs = mint.nowMs();
  const lane = catalog.routedLanes.ofOffer(0);
  const outcome: Outcome = {
    clickId: mint.mint(atMs, lane),
    status: "redirect",
    reason: "",
    offer: undefined,
    location: target.location,
  };
  return {
    // No cookie: it would replace the ID of a click that can convert.
    answer: visitorAnswer(outcome.location, { clickId: "", isHttps: visit.isHttps, cookie: "" }),
    clickId: outcome.clickId,
    recorded: {
      lane,
      line: clickLine({
        atMs,
        linkType,
        outcome,
        workspace: undefined,
        affiliate: undefined,
        smartLinkId: 0,
        visit,
        parameters,
        catalogVersion: catalog.version,
      }),
    },
  };
}

function subjectOfLink(
  click: Click,
  link: OfferLink | SmartLinkHit,
  random: () => number,
): Subject {
  if (!("smartLink" in link)) return subjectOf(link.offer, judgeClick(click, link.offer));
  const { smartLink } = link;
  const allowing = smartLink.rules.flatMap((rule) =>
    rule.offers.flatMap(({ offer_id }) => {
      const offer = click.catalog.offers.get(offer_id);
      return offer?.workspace_id === click.workspace.id ? [offer] : [];
    }),
  );
  return { ...chooseOffer(click, smartLink, random), allowing };
}

/** A request that nobody sees leaves the cookie of the visitor's last click alone. HEAD has the headers of GET (TRK-007). */
function answerOf(
  { status, reason, clickId, location }: Outcome,
  { isHttps }: Visit,
  { isLeft, sent }: FoundLink["cookie"],
): RouteResult["answer"] {
  if (status === "blocked") return visitorError(403, reason);
  return visitorAnswer(location, { clickId: isLeft ? "" : clickId, isHttps, cookie: sent });
}
