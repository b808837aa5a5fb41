import { type AdPlatform, isCustom, isLandingPage, tagName, tagsOf } from "./ad-platform-tags.ts";

/** Replaces values that the ad platform would fill in for a click. It has no braces, so ingress treats it as a value. */
const SAMPLE = "template-test";
/** Conditions that are true for a click on a search page, on a computer. */
const HOLDS = new Set(["ifnotmobile", "ifsearch"]);

/** A template may contain its landing page many times, encoded up to three times. A longer URL is not requested. */
export const URL_CHARACTERS_MAX = 32_768;

/**
 * The URL that the ad platform would call for one click. At the beginning of the template the landing page is inserted as it is.
 * Elsewhere it is percent-encoded as many times as its tag says. Ends after the tag that makes the URL too long.
 */
export function expandTemplate(
  template: string,
  landingPage: string,
  platform: AdPlatform,
): string {
  return expand(template, landingPage, platform);
}

/** The page that an ad leads to: the final URL with the suffix in its query, with all tags filled in. */
export function expandLandingPage(finalUrl: string, suffix: string, platform: AdPlatform): string {
  const hash = finalUrl.indexOf("#");
  const page = hash < 0 ? finalUrl : finalUrl.slice(0, hash);
  const fragment = hash < 0 ? "" : finalUrl.slice(hash);
  const separator = page.includes("?") ? "&" : "?";
  const whole = suffix === "" ? finalUrl : `${page}${separator}${suffix}${fragment}`;
  return expand(whole, "", platform);
}

function expand(text: string, landingPage: string, platform: AdPlatform): string {
  let expanded = "";
  let from = 0;
  for (const tag of tagsOf(text)) {
    // Otherwise a body of 8 kB has an answer of 9.7 MB (P40).
    if (expanded.length > URL_CHARACTERS_MAX) return expanded;
    expanded += text.slice(from, tag.at);
    from = tag.at + tag.text.length;
    const name = tagName(tag, platform);
    if (isLandingPage(tag, platform)) expanded += encodedPage(name, landingPage, tag.at === 0);
    else if (tag.hasArgument) expanded += HOLDS.has(name) ? argumentOf(tag.text) : "";
    else if (!isCustom(tag) && name.toLowerCase() !== "ignore") expanded += SAMPLE;
  }
  return expanded + text.slice(from);
}

function argumentOf(text: string): string {
  return text.slice(text.indexOf(":") + 1, -1);
}

function encodedPage(name: string, page: string, isFirst: boolean): string {
  if (name === "unescapedlpurl" || (isFirst && name === "lpurl")) return page;
  const times = Number(/\+(\d)$/.exec(name)?.[1] ?? 1);
  let encoded = page;
  for (let time = 0; time < times; time += 1) encoded = encodeURIComponent(encoded);
  return encoded;
}
