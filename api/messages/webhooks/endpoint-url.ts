import { isIpHost } from "../../../schemas/net/address.ts";

/** Names that exist only in internal networks (RFC 6761, RFC 6762, RFC 8375, and similar ones). */
const INTERNAL_ENDINGS =
  /\.(localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Why a URL is refused as the endpoint of a webhook: it must be a public http or https URL without credentials, IP address or
 * internal host name. The addresses of a public name are checked when a request is sent (G127). `allowLoopback` also allows
 * `localhost` and 127.0.0.1, for trials.
 */
export function endpointFault(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): string | undefined {
  if (/\s/.test(text) || !/^https?:\/\/[^/\\]/i.test(text) || !URL.canParse(text))
    return "expected an absolute http or https URL";
  const { username, password, hostname } = new URL(text);
  if (username !== "" || password !== "") return "must not have a user name or a password";
  const host = hostname.toLowerCase().replace(/\.+$/, "");
  if (allowLoopback && LOOPBACK.includes(host)) return undefined;
  if (isIpHost(host)) return "must have a host name, not an address";
  if (!host.includes(".") || INTERNAL_ENDINGS.test(host))
    return "must have a public host name, not an internal one";
  return undefined;
}
