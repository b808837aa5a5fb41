import { isIP } from "node:net";
import { isLoopbackAddress } from "./public-address.ts";

/** Whether a host name, as `URL.hostname` spells it, means this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) !== 0) return isLoopbackAddress(name);
  return name === "localhost" || name.endsWith(".localhost");
}
