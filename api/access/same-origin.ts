import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";
import { ApiError } from "../operation/errors.ts";

/** Names the membership of a request, 0 for none. Another origin cannot send it, because the API answers no CORS request. */
const MEMBERSHIP_HEADER = "x-tracker-membership";

const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const MEMBERSHIP = /^(?:0|[1-9]\d{0,9})$/;
const ID_MAX = 2_147_483_647;

/** The origins of pages that belong to the API. On this machine it has several names. */
export function ownOrigins(apiUrl: string): ReadonlySet<string> {
  const { protocol, hostname, port, origin } = new URL(apiUrl);
  if (!isLoopbackHost(hostname)) return new Set([origin]);
  const end = port === "" ? "" : `:${port}`;
  return new Set([origin, ...LOOPBACK_NAMES.map((name) => `${protocol}//${name}${end}`)]);
}

/**
 * Why a request counts as sent by a page of another site. Browsers say where a request comes from in Sec-Fetch-Site, where the address is
 * https or loopback; elsewhere a write must have the Origin of the API.
 */
export function crossSiteRefusal(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  origins: ReadonlySet<string>,
): ApiError | undefined {
  const site = headers["sec-fetch-site"];
  const { origin } = headers;
  const isOwn =
    site === undefined
      ? SAFE_METHODS.has(method) || (origin !== undefined && origins.has(origin))
      : site === "same-origin";
  if (isOwn && membershipOf(headers) !== undefined) return undefined;
  return new ApiError(
    "forbidden",
    "a session counts only in requests of the console's own pages, with the header X-Tracker-Membership",
  );
}

/** The membership that a request names; undefined without the header, or if it is not an id. */
export function membershipOf(headers: IncomingHttpHeaders): number | undefined {
  const given = headers[MEMBERSHIP_HEADER];
  if (typeof given !== "string" || !MEMBERSHIP.test(given)) return undefined;
  return Number(given) <= ID_MAX ? Number(given) : undefined;
}
