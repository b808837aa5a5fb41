/**
 * Whether browsers send the cookie of a session to the tracking domain, too. Cookies know hosts and no ports. Over https the cookie counts
 * for every path of its host, as `__Host-` demands; over http only for the API's path.
 */
export function isSessionSentToTracking({
  apiUrl,
  trackingUrl,
}: {
  readonly apiUrl: string;
  readonly trackingUrl: string;
}): boolean {
  const api = new URL(apiUrl);
  return api.protocol === "https:" && api.hostname === new URL(trackingUrl).hostname;
}
