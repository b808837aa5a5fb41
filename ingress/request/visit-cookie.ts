/** 90 days (G149). */
const MAX_AGE_SECONDS = 7_776_000;
const FIRST_CLICK = /(?:^|;)\s*trk_fcid=[0-9a-f]{32}(?:;|\s*$)/i;

type Header = readonly [name: string, value: string];

/** `trk_cid` names the last click of a visitor, `trk_fcid` the first: the latter is set only when it is not there. */
export function visitCookies(clickId: string, isHttps: boolean, cookie: string): Header[] {
  const last: Header = ["Set-Cookie", cookieOf("trk_cid", clickId, isHttps)];
  if (cookie !== "" && FIRST_CLICK.test(cookie)) return [last];
  return [last, ["Set-Cookie", cookieOf("trk_fcid", clickId, isHttps)]];
}

function cookieOf(name: string, clickId: string, isHttps: boolean): string {
  // Only over TLS may a cookie be sent from an advertiser's page to the pixel.
  const site = isHttps ? "SameSite=None; Secure" : "SameSite=Lax";
  return `${name}=${clickId}; Path=/; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; ${site}`;
}
