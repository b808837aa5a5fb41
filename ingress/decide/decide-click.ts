import type { Offer } from "../../schemas/catalog/records.ts";
import type { ClickStatus } from "../../schemas/events/click-record.ts";
import type { ClickIdMint } from "../../schemas/ids/click-id.ts";
import { isParameter } from "../../schemas/macros/template.ts";
import { storedNormalIp } from "../../schemas/net/stored-ip.ts";
import { SentParameters } from "../request/sent-parameters.ts";
import { isAllowed } from "./allowlist.ts";
import { isUnsafe, isUnsafeIn } from "./blocklist.ts";
import { type Click, type Finding, mayPass, mayTake } from "./click-conditions.ts";
import type { Destination, MacroName } from "./destination.ts";
import { offerRules, workspaceRules } from "./offer-rules.ts";
import { withParameters } from "./passed-parameters.ts";
import type { Refusal, TargetUrl } from "./target-url.ts";

/** The offer of a click, and the reason against it. */
export type Subject = {
  /** Undefined when a smart link found none. */
  readonly offer: Offer | undefined;
  /** Why the click may not pass, `no_match` included; "" when it may. */
  readonly reason: string;
  readonly forwardTo?: Offer | undefined;
  /** Offers whose allowlists apply to `url=`: the link's own offer, or all offers of a smart link. */
  readonly allowing: readonly Offer[];
};

/** The result of a click: the visitor's answer and the values of its record. */
export type Outcome = {
  readonly clickId: string;
  readonly status: ClickStatus;
  readonly reason: string;
  readonly offer: Offer | undefined;
  /** Where the visitor is redirected; "" for the neutral page and for a refusal. */
  readonly location: string;
  /** A condition of the offer refuses the click, and only its `url=` redirects it: it earns nothing (G232). */
  readonly isRefused?: boolean;
};

/** Mints IDs, and draws numbers from 0 up to but not including 1. */
export type Chance = { readonly mint: ClickIdMint; readonly random: () => number };

const RANDOM_MACRO_MAX = 1_000_000_000;

export function subjectOf(offer: Offer, finding: Finding): Subject {
  return { offer, reason: finding.condition, forwardTo: finding.forwardTo, allowing: [offer] };
}

/** A click with `url=` goes exactly there whatever its conditions say, or is refused (T14). */
export function decideWithUrl(
  click: Click,
  subject: Subject,
  target: TargetUrl,
  chance: Chance,
): Outcome {
  const { offer } = subject;
  const clickId = mintFor(click, offer, chance);
  const refusal = refusalOf(click, subject, target);
  if (refusal !== "") return { clickId, status: "blocked", reason: refusal, offer, location: "" };
  const { reason } = subject;
  const isRefused = !mayPass(reason);
  return { clickId, status: "redirect", reason, offer, location: target.location, isRefused };
}

/** A click without `url=` goes to the offer, or where its refusal leads. */
export function decideWithoutUrl(click: Click, subject: Subject, chance: Chance): Outcome {
  const { offer, reason, forwardTo } = subject;
  if (forwardTo !== undefined) return send(click, forwardTo, reason, chance);
  if (offer !== undefined && mayPass(reason)) {
    return send(click, offer, reason, chance);
  }
  return turnAway(click, offer, reason, chance);
}

function send(click: Click, offer: Offer, reason: string, chance: Chance): Outcome {
  const clickId = mintFor(click, offer, chance);
  const location = destinationOf(offer, { click, offer, clickId, chance });
  if (location === undefined) return turnAway(click, offer, "bad_destination", chance);
  return { clickId, status: "redirect", reason, offer, location };
}

/** Uses the first that exists: the offer's fail route, its fallback URL, the workspace's, the neutral page (G146). */
function turnAway(click: Click, offer: Offer | undefined, reason: string, chance: Chance): Outcome {
  const instead = failRoute(click, offer, chance);
  if (instead !== undefined) return instead;
  const clickId = mintFor(click, offer, chance);
  const values = { click, offer, clickId, chance };
  const ofOffer = offer === undefined ? undefined : offerRules(offer).fallback;
  const location =
    expand(ofOffer, values) ?? expand(workspaceRules(click.workspace).fallback, values) ?? "";
  return { clickId, status: "fallback", reason, offer, location };
}

/** The click belongs to the offer that accepts it. The fail route of that offer is not used. */
function failRoute(click: Click, offer: Offer | undefined, chance: Chance): Outcome | undefined {
  const id = offer?.fail_route_offer_id ?? null;
  if (id === null) return undefined;
  const instead = click.catalog.offers.get(id);
  if (!mayTake(click, instead)) return undefined;
  const clickId = mintFor(click, instead, chance);
  const values = { click, offer: instead, clickId, chance };
  const location = destinationOf(instead, values);
  if (location === undefined) return undefined;
  return { clickId, status: "redirect", reason: "fail_route", offer: instead, location };
}

function refusalOf(click: Click, subject: Subject, target: TargetUrl): Refusal | "" {
  if (target.refusal !== "") return target.refusal;
  const { host, port } = target;
  const isListed =
    isAllowed(workspaceRules(click.workspace).allowlist, host, port) ||
    subject.allowing.some((offer) => isAllowed(offerRules(offer).allowlist, host, port));
  if (!isListed) return "not_allowed";
  const { catalog, workspace } = click;
  return isUnsafe(catalog, target) || isUnsafeIn(catalog, workspace.id, target)
    ? "unsafe_target"
    : "";
}

function mintFor(click: Click, offer: Offer | undefined, { mint }: Chance): string {
  return mint.mint(click.atMs, click.catalog.routedLanes.ofOffer(offer?.id ?? 0));
}

type MacroValues = {
  readonly click: Click;
  readonly offer: Offer | undefined;
  readonly clickId: string;
  readonly chance: Chance;
  /** Made when it is first needed. */
  sent?: SentParameters;
};

/** The landing page of the offer, with the parameters of the link that the offer passes on (G244). */
function destinationOf(offer: Offer, values: MacroValues): string | undefined {
  const location = expand(offerRules(offer).destination, values);
  if (location === undefined || offer.pass_parameters === "none") return location;
  return withParameters(location, sentOf(values).passed(offer.pass_parameters));
}

function sentOf(values: MacroValues): SentParameters {
  const { query, set } = values.click;
  values.sent ??= new SentParameters(query, set);
  return values.sent;
}

function expand(destination: Destination | undefined, values: MacroValues): string | undefined {
  return destination?.expand((macro) => macroValue(macro, values));
}

function macroValue(macro: MacroName, from: MacroValues): string {
  const { click, offer } = from;
  switch (macro) {
    case "click_id":
      return from.clickId;
    case "offer_id":
      return offer === undefined ? "" : String(offer.id);
    case "offer_code":
      return offer?.code ?? "";
    case "affiliate_id":
      return String(click.affiliate.id);
    case "affiliate_code":
      return click.affiliate.code;
    case "campaignid":
      return click.values.ext_campaign_id;
    case "adgroupid":
      return click.values.ext_adgroup_id;
    case "keyword":
      return click.values.ext_keyword;
    case "country":
      return click.visit.geo.country;
    case "city":
      return click.visit.geo.city;
    case "device":
      return click.visit.device.deviceType;
    case "os":
      return click.visit.device.os;
    case "ip":
      return storedNormalIp(click.visit.ip, click.workspace?.ip_storage);
    case "random":
      return String(Math.floor(from.chance.random() * RANDOM_MACRO_MAX));
    case "timestamp":
      return String(Math.floor(click.atMs / 1_000));
    case "utm_source":
    case "utm_medium":
    case "utm_campaign":
    case "utm_term":
    case "utm_content":
    case "utm_id":
      return sentOf(from).valueOf(macro);
    default:
      if (isParameter(macro)) return sentOf(from).valueOf(macro.slice("param:".length));
      // Every other macro is the name of a parameter's column.
      return click.values[macro];
  }
}
