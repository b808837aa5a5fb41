import { isIpHost } from "../../../schemas/net/address.ts";
import {
  type AdPlatform,
  isCustom,
  isIgnore,
  isKnown,
  isLandingPage,
  maskTags,
  type Tag,
  tagName,
  tagsOf,
} from "./ad-platform-tags.ts";
import { hasError, LintFindings, type LintIssue } from "./lint-issues.ts";

/** Where a template is used (G167). */
export const AD_ENTITIES = ["campaign", "ad_group", "ad", "keyword", "ad_extension"] as const;
export type AdEntity = (typeof AD_ENTITIES)[number];

export type LintRequest = {
  readonly template: string | undefined;
  readonly finalUrl: string | undefined;
  readonly suffix: string | undefined;
  readonly platform: AdPlatform;
  readonly entity: AdEntity;
  /** For older accounts: an uncertified host is only a warning. */
  readonly allowUncertified: boolean;
  /** The active tracking domains of the workspace. */
  readonly domains: readonly { readonly host: string; readonly certification: string }[];
};

export type LintResult = {
  /** True if there is no error anywhere. */
  readonly ok: boolean;
  /** Null when no template was sent. */
  readonly template: {
    readonly ok: boolean;
    /** Host of the tracker; null if it cannot be read. */
    readonly host: string | null;
    /** In characters, as written (T18). */
    readonly length: number;
    /** Each tag once, as written, in the order of the template. */
    readonly tags: readonly string[];
    readonly issues: readonly LintIssue[];
  } | null;
  readonly suffix: readonly LintIssue[];
};

const LENGTH_MAX = 2_048;
const CUSTOM_MAX = 8;
const CUSTOM_MAX_OF_EXTENSION = 3;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const STRAY_BRACE = /[{}]/;
const TRACKER = /^(https?):\/\/([^/?#]*)([^?#]*)/i;
const QUERY = /^[^?#]*\?([^#]*)/;
const NON_CLICK_PATH =
  /^\/(?:i(?:\/|$)|(?:px(?:\.gif|\.js)?|pb|postback|conversion|lp|sdk\.js)\/?$)/;
const CLICK_PATH = /^\/(?:[crs]\/|click$)/;

/** Checks a tracking template, its final URL and its suffix by the rules of the linter (LINT). No I/O; it never throws. */
export function lintTemplate(request: LintRequest): LintResult {
  const { template, suffix } = request;
  const ofTemplate = new LintFindings();
  const ofSuffix = new LintFindings();
  const host = template === undefined ? null : lintTracker(request, template, ofTemplate);
  if (suffix !== undefined) lintSuffix(request, suffix, ofSuffix);
  // Issues of the final URL go here if there is no template (G168).
  lintFinalUrl(request, template === undefined ? ofSuffix : ofTemplate);
  const isInTemplate = template !== undefined && tagsOf(template).some(isCustom);
  lintCustomParameters(request, isInTemplate ? ofTemplate : ofSuffix);
  const { issues } = ofTemplate;
  return {
    ok: !hasError(issues) && !hasError(ofSuffix.issues),
    template:
      template === undefined
        ? null
        : {
            ok: !hasError(issues),
            host,
            length: charactersOf(template),
            tags: [...new Set(tagsOf(template).map(({ text }) => text))],
            issues,
          },
    suffix: ofSuffix.issues,
  };
}

/** Returns the host of the tracker. */
function lintTracker(request: LintRequest, template: string, found: LintFindings): string | null {
  if (template.trim() === "") {
    found.add(true, "empty");
    return null;
  }
  const { platform } = request;
  const tags = tagsOf(template);
  found.add(charactersOf(template) > LENGTH_MAX, "length_over_2048");
  lintText(template, found);
  found.add(tags.some(isIgnore), "ignore_in_template");
  lintTags(request, tags, found);
  const [first] = tags;
  if (first?.at === 0 && isLandingPage(first, platform)) {
    found.add(true, "not_a_click_tracker");
    return null;
  }
  const has = (name: string): boolean => tags.some((tag) => tagName(tag, platform) === name);
  found.add(platform === "adplatform_a" && !has("gclid"), "missing_gclid");
  found.add(platform === "adplatform_b" && !has("msclkid"), "missing_msclkid");
  return lintAddress(request, { template, tags }, found);
}

/** Returns the host. */
function lintAddress(
  request: LintRequest,
  { template, tags }: { readonly template: string; readonly tags: readonly Tag[] },
  found: LintFindings,
): string | null {
  const masked = maskTags(template);
  found.add(masked.includes("#"), "fragment_in_tracker");
  const parts = TRACKER.exec(masked);
  const [, scheme = "", authority = "", path = ""] = parts ?? [];
  const query = QUERY.exec(masked)?.[1] ?? "";
  found.add(scheme.toLowerCase() !== "https", "non_https");
  lintParameters(request, { template, masked, tags, query }, found);
  if (parts === null) return null;
  found.add(NON_CLICK_PATH.test(path), "non_click_path");
  found.add(!NON_CLICK_PATH.test(path) && !CLICK_PATH.test(path), "unexpected_path");
  const hostAt = scheme.length + "://".length;
  const written = template.slice(hostAt, hostAt + authority.length);
  return lintHost(request, { scheme, authority: written }, found);
}

function lintText(text: string, found: LintFindings): void {
  found.add(SPACE_OR_CONTROL.test(text), "space_or_control_char");
  found.add(STRAY_BRACE.test(maskTags(text)), "stray_brace");
}

function lintTags({ platform }: LintRequest, tags: readonly Tag[], found: LintFindings): void {
  const unknown = tags.filter((tag) => !isIgnore(tag) && !isKnown(tag, platform));
  found.add(unknown.length > 0, "unknown_tag", {
    severity: platform === "adplatform_b" ? "warning" : "error",
    names: [...new Set(unknown.map(({ text }) => text))],
  });
}

/** Returns the host in lower case, with a port unless it is the scheme's default; null if there is none. */
function lintHost(
  { domains, allowUncertified }: LintRequest,
  { scheme, authority }: { readonly scheme: string; readonly authority: string },
  found: LintFindings,
): string | null {
  if (/[{}]/.test(authority)) {
    found.add(true, "templated_host");
    return null;
  }
  const url = parseUrl(`${scheme}://${authority}`);
  if (url === undefined) {
    found.add(true, "unknown_host");
    return null;
  }
  if (isIpHost(url.hostname)) {
    found.add(true, "ip_host");
    return url.host;
  }
  const domain = domains.find(({ host }) => host.toLowerCase() === url.host);
  found.add(domain === undefined, "unknown_host");
  found.add(domain !== undefined && domain.certification !== "certified", "host_not_certified", {
    severity: allowUncertified ? "warning" : "error",
  });
  return url.host;
}

type Tracker = {
  readonly template: string;
  readonly masked: string;
  readonly tags: readonly Tag[];
  /** With tags masked. */
  readonly query: string;
};

type Parameter = { readonly name: string; readonly value: string; readonly valueAt: number };

function lintParameters({ platform }: LintRequest, tracker: Tracker, found: LintFindings): void {
  const { tags } = tracker;
  const parameters = parametersOf(tracker);
  const isUrl = ({ name }: Parameter): boolean => name === "url";
  const urls = parameters.filter(isUrl);
  const landingPages = tags.filter((tag) => isLandingPage(tag, platform));
  const isWithin = ({ at }: Tag, { valueAt, value }: Parameter): boolean =>
    at >= valueAt && at < valueAt + value.length;

  found.add(landingPages.length === 0, "missing_lpurl");
  found.add(
    landingPages.some((tag) => !urls.some((url) => isWithin(tag, url))),
    "lpurl_not_in_url_param",
  );
  found.add(
    urls.some((url) => !tags.some((tag) => isWithin(tag, url))),
    "static_url_param",
  );
  found.add(urls.length > 1, "duplicate_url_param");
  found.add(
    landingPages.some((tag) => urls.some((url) => isWithin(tag, url) && url.value !== tag.text)),
    "text_joined_to_lpurl",
  );
  const firstUrl = parameters.findIndex(isUrl);
  const others = parameters.filter((parameter) => !isUrl(parameter)).map(({ name }) => name);
  if (firstUrl >= 0) {
    const following = parameters.slice(firstUrl + 1);
    const isUnescaped = urls.some(({ value }) => value.toLowerCase().includes("{unescapedlpurl}"));
    found.add(
      following.some((parameter) => !isUrl(parameter)),
      "lpurl_not_last",
      { severity: isUnescaped ? "error" : undefined },
    );
    found.add(
      following.some(({ name }) => name === "force_transparent"),
      "force_transparent_after_url",
    );
  }
  const seen = new Set<string>();
  const repeated = others.filter((name) => seen.size === seen.add(name).size);
  found.add(repeated.length > 0, "duplicate_param", { names: [...new Set(repeated)] });
}

function parametersOf({ template, masked, query }: Tracker): Parameter[] {
  if (query === "") return [];
  let at = masked.indexOf("?") + 1;
  return query.split("&").flatMap((pair) => {
    const from = at;
    at += pair.length + 1;
    if (pair === "") return [];
    const equals = pair.indexOf("=");
    const nameEnd = equals < 0 ? pair.length : equals;
    const valueAt = from + Math.min(nameEnd + 1, pair.length);
    return [
      {
        name: template.slice(from, from + nameEnd),
        value: template.slice(valueAt, from + pair.length),
        valueAt,
      },
    ];
  });
}

function lintFinalUrl({ finalUrl, platform, domains }: LintRequest, found: LintFindings): void {
  if (finalUrl === undefined) return;
  // A final URL may contain tags.
  const url = /^https?:\/\/[^/?#\s]/i.test(finalUrl) ? parseUrl(maskTags(finalUrl)) : undefined;
  found.add(url === undefined || SPACE_OR_CONTROL.test(finalUrl), "final_url_invalid");
  found.add(
    domains.some(({ host }) => host.toLowerCase() === url?.host),
    "final_url_on_tracker_domain",
  );
  found.add(
    tagsOf(finalUrl).some((tag) => isLandingPage(tag, platform)),
    "final_url_has_lpurl",
  );
  found.add(url !== undefined && finalUrl.includes("#"), "final_url_has_fragment");
  found.add(url?.protocol === "http:", "final_url_not_https");
}

function lintSuffix(request: LintRequest, suffix: string, found: LintFindings): void {
  const tags = tagsOf(suffix);
  lintText(suffix, found);
  lintTags(request, tags, found);
  found.add(/^[?&#]/.test(suffix), "suffix_leading_separator");
  found.add(
    tags.some((tag) => isLandingPage(tag, request.platform)),
    "suffix_has_lpurl",
  );
  found.add(tags.some(isIgnore), "suffix_has_ignore");
  found.add(/(?:^[?&#]?|&)url=/.test(suffix), "suffix_has_url_param");
}

/** Counts distinct names over template and suffix together, because both belong to one entity (G167, T52). */
function lintCustomParameters(
  { template = "", suffix = "", platform, entity }: LintRequest,
  found: LintFindings,
): void {
  const tags = [...tagsOf(template), ...tagsOf(suffix)].filter(isCustom);
  const count = new Set(tags.map((tag) => tagName(tag, platform))).size;
  const isB = platform === "adplatform_b";
  const max = isB && entity === "ad_extension" ? CUSTOM_MAX_OF_EXTENSION : CUSTOM_MAX;
  found.add(count > max, "too_many_custom_parameters", { severity: isB ? "error" : "warning" });
}

function charactersOf(text: string): number {
  return Array.from(text).length;
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
