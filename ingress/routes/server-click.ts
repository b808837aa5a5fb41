import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { affiliateNamed, offersNamed } from "../../schemas/catalog/named-records.ts";
import type { Affiliate, Offer } from "../../schemas/catalog/records.ts";
import type { TokenOwner } from "../../schemas/catalog/token-table.ts";
import { JsonExcessError, parseSentTexts, REPORT_BOUNDS } from "../../schemas/json/sent-json.ts";
import { normalIp } from "../../schemas/net/address.ts";
import { jsonAnswer } from "../answers.ts";
import { type Click, type Condition, judgeClick, noteTaken } from "../decide/click-conditions.ts";
import { clickLine } from "../decide/click-line.ts";
import type { Outcome } from "../decide/decide-click.ts";
import { linkScopeOf } from "../decide/find-link.ts";
import {
  type ClickParameters,
  ParameterReader,
  SERVER_CLICK_PARAMETERS,
} from "../request/parameters.ts";
import { readReportedVisit, trackingHostOf } from "../request/visit.ts";
import type { Answer, AsyncRoute, RawRequest, Route, RouteResult } from "../route.ts";
import { notLoaded } from "./click-answers.ts";
import type { ClickDeps } from "./click-deps.ts";

const BODY_BYTES_MAX = 65_536;

/** `error_code`: 0 when the click counts, else the kind of fault. */
const CODE_OK = 0;
const CODE_TOKEN = 1;
const CODE_OFFER = 2;
const CODE_AFFILIATE = 3;

export type ServerClickRoute = {
  readonly pattern: string;
  readonly methods: readonly string[];
  readonly bodyBytesMax: number;
  readonly route: AsyncRoute;
};

/** `POST /clk`: a form or a JSON object, whose values win over the query's (G119, G156). */
export function serverClickRoutes(deps: ClickDeps): ServerClickRoute[] {
  const route: AsyncRoute = (request, body) => {
    const reader = new ParameterReader(SERVER_CLICK_PARAMETERS);
    addBody(reader, request.headers.contentType, new TextDecoder().decode(body));
    return Promise.resolve(answerServerClick(deps, request, reader.addQuery(request.query).read()));
  };
  return [{ pattern: "/clk", methods: ["POST"], bodyBytesMax: BODY_BYTES_MAX, route }];
}

/** `GET /clk`. */
export function serverClickRoute(deps: ClickDeps): Route {
  return (request) => {
    const parameters = new ParameterReader(SERVER_CLICK_PARAMETERS).addQuery(request.query).read();
    return answerServerClick(deps, request, parameters);
  };
}

/** Always HTTP 200, whatever the code (G156). Codes 1 to 3 record nothing, 4 to 10 a fallback click. */
function answerServerClick(
  deps: ClickDeps,
  request: RawRequest,
  parameters: ClickParameters,
): RouteResult {
  const { catalog } = deps;
  if (!catalog.isLoaded) return { answer: notLoaded(), reason: "not_loaded" };
  const { values } = parameters;
  const at = { host: trackingHostOf(request.headers.host), atMs: deps.clock.nowMs() };
  const named = findNamed(catalog, at, values);
  if (typeof named === "number") return { answer: answerOf("", 0, 0, named) };
  const { owner, offer, affiliate } = named;
  const visit = readReportedVisit(request, deps, {
    secret: catalog.secret,
    ip: normalIp(values.ip),
    userAgent: values.user_agent,
  });
  const mint = deps.mint();
  const lane = catalog.routedLanes.ofOffer(offer.id);
  const { workspace } = owner;
  const atMs = mint.nowMs();
  const click: Click = {
    catalog,
    state: deps.state,
    workspace,
    affiliate,
    visit,
    values,
    query: "",
    set: SERVER_CLICK_PARAMETERS,
    atMs,
    isPartnerLink: false,
  };
  const condition = conditionOf(click, offer);
  const code = codeOf(condition);
  const outcome: Outcome = {
    clickId: mint.mint(atMs, lane),
    status: code === CODE_OK ? "redirect" : "fallback",
    reason: condition,
    offer,
    location: "",
  };
  if (code === CODE_OK) noteTaken(click, offer, condition);
  return {
    answer: answerOf(outcome.clickId, offer.id, affiliate.id, code),
    clickId: outcome.clickId,
    reason: outcome.reason,
    recorded: {
      lane,
      line: clickLine({
        atMs,
        linkType: "server",
        outcome,
        workspace,
        affiliate,
        smartLinkId: 0,
        visit,
        parameters,
        catalogVersion: catalog.version,
      }),
    },
  };
}

type Named = { readonly owner: TokenOwner; readonly offer: Offer; readonly affiliate: Affiliate };

/** The records that the parameters name, or the code for the missing one. */
function findNamed(
  catalog: Catalog,
  { host, atMs }: { readonly host: string; readonly atMs: number },
  values: ClickParameters["values"],
): Named | number {
  const owner = catalog.ownerOfToken(values.token, atMs);
  if (owner === undefined) return CODE_TOKEN;
  // Tokens of paused or inactive advertisers record nothing.
  if (owner.kind === "advertiser" && owner.advertiser.status !== "active") return CODE_TOKEN;
  const { id } = owner.workspace;
  const isServed = linkScopeOf(catalog, host).workspaceIds.includes(id);
  const workspaceIds = isServed ? [id] : [];
  const offer = offersNamed(catalog, workspaceIds, values.offer)[0];
  if (offer === undefined) return CODE_OFFER;
  if (owner.kind === "advertiser" && offer.advertiser_id !== owner.advertiser.id) return CODE_TOKEN;
  const affiliate = affiliateNamed(catalog, id, values.affiliate);
  return affiliate === undefined ? CODE_AFFILIATE : { owner, offer, affiliate };
}

/** A server click is not redirected, so a control that would forward it refuses it. */
function conditionOf(click: Click, offer: Offer): Condition {
  const { condition } = judgeClick(click, offer);
  return condition === "forwarded" ? "traffic_control" : condition;
}

function codeOf(condition: Condition): number {
  switch (condition) {
    case "":
    case "cap_over":
      return CODE_OK;
    case "paused":
      return 4;
    case "not_approved":
      return 5;
    case "targeting":
    // Templates do not apply to server clicks. If they did, a contradiction would be a missed target.
    case "traffic_source":
      return 6;
    case "cap":
      return 7;
    case "workspace_inactive":
      return 8;
    case "traffic_control":
    case "forwarded":
      return 9;
    case "duplicate":
      return 10;
  }
}

function answerOf(
  transactionId: string,
  offerId: number,
  affiliateId: number,
  errorCode: number,
): Answer {
  return jsonAnswer(200, {
    transaction_id: transactionId,
    offer_id: offerId,
    affiliate_id: affiliateId,
    error_code: errorCode,
  });
}

/** A body that is neither form nor JSON adds nothing: the code then names what is missing. */
function addBody(reader: ParameterReader, contentType: string, body: string): void {
  const isJson = /^\s*(application\/json|[^;]*\+json)/i.test(contentType) || /^\s*\{/.test(body);
  if (!isJson) {
    reader.addQuery(body.trim());
    return;
  }
  for (const [name, value] of Object.entries(parseObject(body))) {
    const isScalar = ["string", "boolean"].includes(typeof value);
    if (isScalar) reader.add(name, Buffer.from(String(value)).toString());
  }
}

function parseObject(text: string): object {
  try {
    const value = parseSentTexts(text, REPORT_BOUNDS);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonExcessError) return {};
    throw error;
  }
}
