/** Where an organic visit came from, as the landing script reports it: its `sub1`, `sub2` and `sub3`. */
export type ReferrerSource = {
  readonly platform: "google" | "bing" | "facebook" | "x" | "referral" | "direct";
  /** Referring host, "" for a visit without one. */
  readonly host: string;
  /** Path of the landing page; "" when its URL is invalid. */
  readonly path: string;
};

const PLATFORMS: readonly (readonly [ReferrerSource["platform"], RegExp])[] = [
  ["google", /(^|\.)google\.[a-z]{2,3}(\.[a-z]{2})?$/],
  ["bing", /(^|\.)bing\.com$/],
  ["facebook", /(^|\.)(facebook\.com|fb\.com|fb\.me)$/],
  ["x", /(^|\.)(x\.com|twitter\.com|t\.co)$/],
];

/** For pages that ask for an organic click without the script. Both URLs are untrusted text. */
export function referrerSource(referrer: string, pageUrl: string): ReferrerSource {
  const page = parse(pageUrl);
  const path = page?.pathname ?? "";
  const host = parse(referrer)?.hostname ?? "";
  if (host === "" || host === page?.hostname) return { platform: "direct", host: "", path };
  const known = PLATFORMS.find(([, pattern]) => pattern.test(host));
  return { platform: known?.[0] ?? "referral", host, path };
}

function parse(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.protocol === "https:" || parsed?.protocol === "http:" ? parsed : undefined;
}
