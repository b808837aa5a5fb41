import { isIP } from "node:net";
import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";

/** Where passkeys are made and used: an address is no name, so on this machine they need `localhost`. */
export type PasskeySite = { readonly rpId: string; readonly origin: string };

/** The site of a request, by its Host. Undefined where there can be no passkeys. */
export function passkeySiteAt(host: string, apiUrl: string): PasskeySite | undefined {
  const own = new URL(apiUrl);
  if (!URL.canParse(`${own.protocol}//${host}`)) return undefined;
  const { hostname } = new URL(`${own.protocol}//${host}`);
  if (isLoopbackHost(own.hostname)) {
    if (hostname !== "localhost") return undefined;
    const port = own.port === "" ? "" : `:${own.port}`;
    return { rpId: hostname, origin: `${own.protocol}//${hostname}${port}` };
  }
  const isName = own.protocol === "https:" && isIP(own.hostname.replace(/^\[|\]$/g, "")) === 0;
  return isName ? { rpId: own.hostname, origin: own.origin } : undefined;
}
