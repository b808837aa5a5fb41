/** 90 days (G149). */
const MAX_AGE_SECONDS = 7_776_000;
const FIRST_CLICK = /(?:^|;)\s*trk_fcid=[0-9a-f]{32}(?:;|\s*$)/i;

/** The values of Set-Cookie: `trk_cid` is the visitor's last click, `trk_fcid` the first, which is set only when it is absent. */
export function visitCookies(clickId: string, isHttps: boolean, cookie: string): string[] {
  const last = cookieOf("trk_cid", clickId, isHttps);
  if (cookie !== "" && FIRST_CLICK.test(cookie)) return [last];
  return [last, cookieOf("trk_fcid", clickId, isHttps)];
}

function cookieOf(name: string, clickId: string, isHttps: boolean): string {
  // Browsers send a cookie from an advertiser's page to the pixel only over TLS.
  const site = isHttps ? "SameSite=None; Secure" : "SameSite=Lax";
  return `${name}=${clickId}; Path=/; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; ${site}`;
}
