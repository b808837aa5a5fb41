import { workspaceOfCall } from "../../schemas/catalog/workspace-of-call.ts";
import { type ClickLookup, ClickLookupReply } from "../../schemas/events/click-lookup.ts";
import type { LandingResult } from "../../schemas/events/inbound-call.ts";
import { ask } from "../../schemas/nats/ask.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import { clickLine } from "../decide/click-line.ts";
import {
  decideLanding,
  type LandingRefusal,
  type LandingScope,
  type LandingTarget,
  landingScope,
} from "../decide/decide-landing.ts";
import type { InboundLog } from "../inbound-log/inbound-log.ts";
import { clientIp } from "../request/client-ip.ts";
import { type LandingRequest, readLandingRequest } from "../request/landing-request.ts";
import type { LookupLimit } from "../request/lookup-limit.ts";
import { readVisit, trackingHostOf, type Visit } from "../request/visit.ts";
import type { AsyncRoute, RawRequest, Recorded, RouteResult } from "../route.ts";
import type { ClickDeps } from "./click-deps.ts";
import { LANDING_METHODS, landingAnswer, landingOutage } from "./landing-answers.ts";
import type { BodyRoute } from "./postback.ts";

export type LandingDeps = ClickDeps & {
  readonly link: NatsLink;
  readonly inboundLog: Pick<InboundLog, "add">;
  readonly lookups: LookupLimit;
  readonly events: {
    landed(result: LandingResult): void;
    handlerFailed(error: unknown, requestId: string): void;
  };
};

const BODY_BYTES_MAX = 65_536;
/** The script gives up after 5 s, so an outage is reported earlier. */
const LOOKUP_TIMEOUT_MS = 4_500;

/** The result of a call: its answer, and its entry in the inbound log. */
type Landed = Omit<RouteResult, "clickId"> & {
  readonly result: LandingResult;
  readonly workspaceId?: number | undefined;
  readonly clickId?: string | undefined;
  readonly error?: string;
  /** The page's request; undefined when its body could not be read. */
  readonly landing?: LandingRequest;
};

/**
 * `POST /lp`: returns the click that brought the visitor, by its click ID or by an ad ID, else makes a new one for the page's offer.
 * Open to all origins. A refusal has one of the texts in `schemas/contract/landing-pages.md`; an outage is a 503, not a refusal (P15).
 */
export function landingRoute(deps: LandingDeps): BodyRoute {
  const route: AsyncRoute = async (request, body, signal) => {
    const receivedAtMs = deps.clock.nowMs();
    let landed: Landed;
    try {
      landed = await land(deps, { request, receivedAtMs, signal }, body);
    } catch (error) {
      // Caught here and not in the server: a page of another origin could not read the server's answer.
      deps.events.handlerFailed(error, request.requestId);
      landed = {
        result: "error",
        error: "internal_error",
        answer: landingAnswer(500, { error: "internal_error" }),
      };
    }
    deps.events.landed(landed.result);
    addToLog(deps, request, landed, receivedAtMs);
    const { answer, recorded, result, clickId } = landed;
    const facts = { answer, reason: result, ...(clickId !== undefined && { clickId }) };
    return recorded === undefined ? facts : { ...facts, recorded };
  };
  return {
    patterns: ["/lp"],
    methods: ["POST"],
    bodyBytesMax: BODY_BYTES_MAX,
    route,
    tooLarge: landingAnswer(413, { error: "request body too large" }),
    busy: landingOutage("click store unavailable"),
    wrongMethod: landingAnswer(405, { error: "method not allowed" }, ["Allow", LANDING_METHODS]),
  };
}

type Call = {
  readonly request: RawRequest;
  readonly receivedAtMs: number;
  readonly signal: AbortSignal;
};

async function land(deps: LandingDeps, call: Call, body: Uint8Array): Promise<Landed> {
  const { catalog } = deps;
  const read = readLandingRequest(body);
  if (read.kind === "malformed") return refusal(400, read.error, "malformed");
  if (!catalog.isLoaded) return outage("configuration not loaded");
  const { landing } = read;
  const scope = landingScope(catalog, trackingHostOf(call.request.headers.host), landing);
  const known = await findVisit(deps, call, landing, scope);
  if (known !== undefined) return { ...known, landing };
  return { ...makeClick(deps, call.request, landing, scope), landing };
}

/** The result of looking up the page's IDs; undefined when a new click must be made. */
async function findVisit(
  deps: LandingDeps,
  call: Call,
  landing: LandingRequest,
  scope: LandingScope,
): Promise<Landed | undefined> {
  if (landing.clickId === undefined && landing.adClickIds.length === 0) return undefined;
  const lookup = deps.lookups.take(call.request);
  // A number: the seconds until this address may look up again.
  if (typeof lookup === "number") return limited(lookup);
  const reply = await lookUp(deps, landing, scope, call);
  // No answer is an outage of ours and does not count. "unavailable" counts, because a flood of made-up IDs can cause it.
  if (reply === undefined || reply.kind === "found") lookup.found();
  if (reply?.kind === "found") return foundVisit(deps, reply);
  if (reply?.kind !== "none") return outage("click store unavailable");
  // It would not receive a new click, so none is made. Nobody reads this answer.
  return call.signal.aborted ? refusal(400, "the page left before its answer", "error") : undefined;
}

function foundVisit(
  { catalog }: LandingDeps,
  { workspaceId, clickId, by }: Extract<ClickLookupReply, { kind: "found" }>,
): Landed {
  const workspace = catalog.workspaces.get(workspaceId);
  if (workspace?.status !== "active")
    return { ...refusal(400, "workspace not active", "error"), workspaceId };
  return { ...found(clickId, by), workspaceId };
}

/** Asks the conversion processors. Undefined when none answers in time, which is an outage. */
async function lookUp(
  { link }: LandingDeps,
  { clickId, adClickIds }: LandingRequest,
  { workspaceIds, offer }: LandingScope,
  { receivedAtMs, request }: Call,
): Promise<ClickLookupReply | undefined> {
  const lookup: ClickLookup = {
    clickId: clickId ?? null,
    adClickIds: [...adClickIds],
    workspaceIds: [...workspaceIds],
    offerId: offer?.id ?? 0,
    receivedAtMs,
  };
  return await ask(link.current(), {
    subject: ({ clickLookup }) => clickLookup,
    body: lookup,
    cause: { request_id: request.requestId },
    timeoutMs: LOOKUP_TIMEOUT_MS,
    answer: ClickLookupReply,
  });
}

/** Makes a click for a visitor who is on the page already: status `none`, reason `lp` or `organic` (G82). */
function makeClick(
  deps: LandingDeps,
  request: RawRequest,
  landing: LandingRequest,
  scope: LandingScope,
): Landed {
  const { catalog } = deps;
  // The browser sends the page itself as the referrer of this call.
  const headers = { ...request.headers, referer: landing.referrer };
  const { requestId } = request;
  const visit = readVisit({ ...request, requestId, headers }, deps, catalog.secret);
  const mint = deps.mint();
  const atMs = mint.nowMs();
  const target = decideLanding(catalog, landing, scope, { visit, atMs });
  if (target.kind === "refused") {
    return { ...refused(target), workspaceId: scope.offer?.workspace_id };
  }
  const lane = catalog.routedLanes.ofOffer(target.offer?.id ?? 0);
  const clickId = mint.mint(atMs, lane);
  return {
    ...found(clickId, target.linkType),
    workspaceId: target.workspace.id,
    recorded: recordedOf({ target, lane, landing, visit, clickId, atMs, version: catalog.version }),
  };
}

function recordedOf(made: {
  readonly target: LandingTarget;
  readonly lane: number;
  readonly landing: LandingRequest;
  readonly visit: Visit;
  readonly clickId: string;
  readonly atMs: number;
  readonly version: number;
}): Recorded {
  const { target, lane, landing, visit, clickId, atMs } = made;
  const { linkType, workspace, offer, affiliate } = target;
  const reason = linkType === "organic" ? "organic" : "lp";
  return {
    lane,
    line: clickLine({
      atMs,
      linkType,
      outcome: { clickId, status: "none", reason, offer, location: "" },
      workspace,
      affiliate,
      smartLinkId: 0,
      visit,
      parameters: landing.parameters,
      catalogVersion: made.version,
    }),
  };
}

function found(clickId: string, source: LandingResult): Landed {
  return { answer: landingAnswer(200, { click_id: clickId, source }), result: source, clickId };
}

function refused({ error }: LandingRefusal): Landed {
  // Only this text has a result of its own in the inbound log.
  return refusal(400, error, error === "unknown offer" ? "unknown_offer" : "error");
}

function refusal(status: number, error: string, result: LandingResult): Landed {
  return { answer: landingAnswer(status, { error }), result, error };
}

function limited(waitSeconds: number): Landed {
  const error = "rate_limited";
  const answer = landingAnswer(429, { error }, ["Retry-After", String(waitSeconds)]);
  return { answer, result: "error", error };
}

function outage(error: "click store unavailable" | "configuration not loaded"): Landed {
  return { answer: landingOutage(error), result: "unavailable", error };
}

/** Adds a row to the inbound log. The call is answered even when the log is full. */
function addToLog(
  deps: LandingDeps,
  request: RawRequest,
  landed: Landed,
  receivedAtMs: number,
): void {
  const { answer, result, workspaceId, clickId, error = "", landing } = landed;
  const host = trackingHostOf(request.headers.host);
  const from = { token: "", host, atMs: receivedAtMs };
  deps.inboundLog.add({
    endpoint: "lp",
    workspaceId: workspaceId ?? workspaceOfCall(deps.catalog, from)?.id ?? null,
    requestId: request.requestId,
    receivedAtMs,
    ip: clientIp(request, deps.trustedProxies),
    params: landing === undefined ? {} : loggedParams(landing),
    httpStatus: answer.status,
    result,
    clickId: clickId ?? null,
    message: error,
  });
}

/** Logs what identifies the visit, and nothing of the page's URL, whose query may contain personal data (P31). */
function loggedParams(landing: LandingRequest): Record<string, string> {
  const params: Record<string, string> = {
    click_id: landing.clickId ?? "",
    ...Object.fromEntries(landing.adClickIds.map(({ kind, value }) => [kind, value])),
    offer: landing.offerCode,
    aff: landing.affiliateCode,
    organic: landing.isOrganic ? "true" : "",
  };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ""));
}
