import { normalIp, parseIp } from "../net/address.ts";
import { storedNormalIp } from "../net/stored-ip.ts";

/** The forms in which an address may be stored. */
export type AddressForms = {
  /** The whole address, as different senders and stores write it. */
  readonly whole: readonly string[];
  /** The /24 or /48 that workspaces with `ip_storage` truncated keep. */
  readonly truncated: readonly string[];
};

/** Undefined if the text is not an address. */
export function addressForms(ip: string): AddressForms | undefined {
  const groups = parseIp(ip);
  if (groups === undefined) return undefined;
  const normal = normalIp(ip);
  const network = storedNormalIp(normal, "truncated");
  const hex = groups.map((group) => group.toString(16));
  const full = hex.map((group) => group.padStart(4, "0"));
  const inGroups = ip.includes(":") ? [hex.join(":"), full.join(":")] : [];
  // Conversions stored before they shared `storedIp` with clicks have the zeros of their network.
  const former = normal.includes(":") ? [`${hex.slice(0, 3).join(":")}::`] : [];
  return {
    whole: unique([normal, ip.toLowerCase(), ...inGroups]),
    truncated: unique([...former, network]),
  };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
