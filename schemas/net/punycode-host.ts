const AUTHORITY = /^(https?:\/\/(?:[^/?#@]*@)?)([^/?#:@]+)/i;
const PLAIN = /^[^%\P{ASCII}]*$/u;

/**
 * The URL with a host in another script, or with escapes, as browsers and DNS spell it: `bücher.example` becomes `xn--bcher-kva.example`
 * (G246). Everything else, and a host that cannot be spelled so, stays byte by byte.
 */
export function punycodeHost(url: string): string {
  const [whole = "", scheme = "", host = ""] = AUTHORITY.exec(url) ?? [];
  if (PLAIN.test(host)) return url;
  const origin = `https://${host}/`;
  return URL.canParse(origin) ? scheme + new URL(origin).hostname + url.slice(whole.length) : url;
}
