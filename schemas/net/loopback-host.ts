import { isLoopbackAddress } from "./public-address.ts";

/** Whether a host name, as `URL.hostname` spells it, means this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}
