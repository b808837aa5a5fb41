import { formatCountry } from "./country.ts";

type Words = ReadonlyMap<string, string>;

const words = (list: Readonly<Record<string, string>>): Words => new Map(Object.entries(list));

const STATES = words({ redirect: "Redirected" });

const LINKS = words({
  affiliate: "Link of a partner",
  transparent: "Link without redirect",
  smart: "Smart link",
  server: "From a server",
  direct: "Direct visit",
  organic: "Search engine",
  coupon: "Coupon",
});

/** How a conversion was reported. */
export const METHODS = [
  ["s2s", "Server"],
  ["pixel", "Pixel"],
  ["js", "Script"],
  ["api", "API or by hand"],
] as const;

/** When a postback is sent. */
export const FIRINGS = [
  ["approved", "A conversion is approved"],
  ["any", "Any change of a conversion"],
  ["reversal", "An approved conversion is taken back"],
] as const;

const REASONS = words({
  duplicate: "Duplicate",
  throttled: "Throttled",
  "rule:partner_blocked": "Partner blocked",
  multiple: "Further conversion of the click",
  postback: "Rejected by the advertiser",
  postback_reversal: "Changed back by the advertiser",
  postback_update: "Changed by the advertiser",
  outside_window: "Too long after the click",
  click_blocked: "The click was blocked",
  too_fast: "Too soon after the click",
  ip_not_allowed: "Sent from an IP that is not allowed",
  cap_exceeded: "Cap reached",
  hold: "On hold",
  manual: "By hand",
});

const CHECKS = words({
  bot: "bot",
  datacenter: "data centre",
  proxy_hint: "proxy",
  headless: "headless browser",
  missing_ua: "no user agent",
  duplicate_click_ip: "many clicks of an IP",
  duplicate_conv_ip: "many conversions of an IP",
  duplicate_conv_subnet24: "many conversions of a network",
});

const CLICK_REASONS = words({
  paused: "Offer paused",
  not_approved: "Partner not approved",
  traffic_source: "Traffic source not allowed",
  targeting: "Outside the targeting",
  cap: "Cap reached",
  cap_over: "Cap reached, alert only",
  traffic_control: "Traffic rule",
  duplicate: "Repeated click",
  bad_destination: "Offer without a valid page",
  lp: "Landing page",
  organic: "Search engine",
});

const FLAGS = words({ true: "Yes", false: "No" });

/** Codes of reasons, with their words. */
export const REASON_CHOICES: readonly (readonly [code: string, words: string])[] = [
  ...REASONS.keys(),
  ...[...CHECKS.keys()].map((check) => `fraud:${check}`),
].map((code) => [code, reasonWords(code)]);

/** A state of the API as the console writes it: "not_set" is "Not set". */
export function statusWords(status: string): string {
  return STATES.get(status) ?? capital(status.replaceAll("_", " "));
}

/** How a visitor came. A way that a newer release adds keeps its own name. */
export function linkWords(type: string): string {
  return LINKS.get(type) ?? statusWords(type);
}

/** Why a conversion has its state. What somebody typed, and the name of a rule, stay as they are. */
export function reasonWords(reason: string): string {
  const known = REASONS.get(reason);
  if (known !== undefined) return known;
  const [, kind, name = ""] = /^(rule|fraud):(.+)$/.exec(reason) ?? [];
  if (kind === "rule") return `Rule: ${name}`;
  if (kind === "fraud") return `Fraud check: ${CHECKS.get(name) ?? name.replaceAll("_", " ")}`;
  return reason;
}

/** Why a click was not redirected to its offer, or has no redirect. */
export function clickReasonWords(reason: string): string {
  return CLICK_REASONS.get(reason) ?? statusWords(reason);
}

const METHOD_WORDS: Words = new Map(METHODS);
const FIRING_WORDS: Words = new Map(FIRINGS);

export function firingWords(firing: string): string {
  return FIRING_WORDS.get(firing) ?? statusWords(firing);
}

const OF_DIMENSIONS: ReadonlyMap<string, (value: string) => string> = new Map([
  ["country", formatCountry],
  ["link_type", linkWords],
  ["method", (value: string) => METHOD_WORDS.get(value) ?? statusWords(value)],
  ["status", statusWords],
  ["click_status", statusWords],
  ["device_type", statusWords],
  ["status_reason", clickReasonWords],
  ["conversion_reason", reasonWords],
  ...["is_unique", "is_bot", "is_datacenter"].map(
    (name) => [name, (value: string) => FLAGS.get(value) ?? value] as const,
  ),
]);

/** What a person calls a value of a dimension of reports, or of the column of the same name. */
export function valueWords(dimension: string, value: string): string {
  return value === "" ? value : (OF_DIMENSIONS.get(dimension)?.(value) ?? value);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
