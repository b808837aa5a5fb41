import { isIP } from "node:net";
import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";

/** Where passkeys are made and used: an address is no name, so on this machine they need `localhost`. */
export type PasskeySite = { readonly rpId: string; readonly origin: string };

/** The site of a request, by its Host. Undefined where there can be no passkeys. */
export function passkeySiteAt(host: string, apiUrl: string): PasskeySite | undefined {
  const site = new URL(apiUrl);
  if (!URL.canParse(`${site.protocol}//${host}`)) return undefined;
  const { hostname } = new URL(`${site.protocol}//${host}`);
  if (isLoopbackHost(site.hostname)) {
    if (hostname !== "localhost") return undefined;
    const port = site.port === "" ? "" : `:${site.port}`;
    return { rpId: hostname, origin: `${site.protocol}//${hostname}${port}` };
  }
  const isName = site.protocol === "https:" && isIP(site.hostname.replace(/^\[|\]$/g, "")) === 0;
  return isName ? { rpId: site.hostname, origin: site.origin } : undefined;
}
