import { domainToUnicode } from "node:url";
import { BoundedCache } from "../request/bounded-cache.ts";

const AUTHORITIES_REMEMBERED_MAX = 10_000;
const HOST_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LDH_HOST = /^[a-zA-Z0-9.-]+$/;
const ASCII = /^\p{ASCII}*$/u;
const PUNYCODE = "xn--";
const PORT = /^[1-9]\d{0,4}$/;
const PORT_MAX = 65_535;
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "lan", "home.arpa"];

/** Where an authority leads. `host` is lower case, punycode, without a trailing dot; `port` "" when none is given. */
export type HostVerdict = {
  readonly refusal: "" | "credentials" | "ip_host" | "local_host" | "bad_host";
  readonly host: string;
  readonly port: string;
};

const verdicts = new BoundedCache<HostVerdict>(AUTHORITIES_REMEMBERED_MAX);

/**
 * Judges the part between `//` and the path of an http(s) URL. Two parsers must agree on the host: the grammar here, and the
 * WHATWG parser of all browsers. A name that they read differently could pass an allowlist as one host and lead to another.
 * Refusals come in the order of G137; names follow G141.
 */
export function judgeAuthority(authority: string): HostVerdict {
  const known = verdicts.get(authority);
  if (known !== undefined) return known;
  const verdict = judge(authority);
  verdicts.set(authority, verdict);
  return verdict;
}

function judge(authority: string): HostVerdict {
  if (authority.includes("@")) return refused("credentials");
  // Only an IPv6 address has brackets.
  if (authority.startsWith("[")) return refused("ip_host");
  const colon = authority.indexOf(":");
  const written = colon < 0 ? authority : authority.slice(0, colon);
  const name = nameOf(written);
  if (name === undefined) return refused("bad_host");
  const host = name.replace(/\.$/, "");
  if (isIpHost(host)) return refused("ip_host");
  if (isLocalHost(host)) return refused("local_host");
  const port = colon < 0 ? "" : authority.slice(colon + 1);
  const isGood = isAgreed(written, name) && isName(host) && (colon < 0 || isPort(port));
  return isGood ? { refusal: "", host, port } : refused("bad_host");
}

/** Names beyond ASCII are used as the WHATWG parser converts them. A name with escapes in it is refused. */
function isAgreed(written: string, name: string): boolean {
  if (LDH_HOST.test(written)) return whatwgHost(written) === name;
  return !ASCII.test(written) && !written.includes("%") && LDH_HOST.test(name);
}

function refused(refusal: HostVerdict["refusal"]): HostVerdict {
  return { refusal, host: "", port: "" };
}

/** Lower case. Names beyond ASCII, and names with escapes, are read by the WHATWG parser. */
function nameOf(written: string): string | undefined {
  return LDH_HOST.test(written) ? written.toLowerCase() : whatwgHost(written);
}

function whatwgHost(written: string): string | undefined {
  const url = `https://${written}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Dotted, short, decimal, octal and hex forms: browsers read every name that ends in a number as an IPv4 address (T19). */
function isIpHost(host: string): boolean {
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host) || host.startsWith("[");
}

function isLocalHost(host: string): boolean {
  if (host === "") return false;
  return (
    !host.includes(".") ||
    LOCAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  );
}

function isName(host: string): boolean {
  const labels = host.split(".");
  return (
    host.length <= HOST_LENGTH_MAX &&
    labels.every((label) => LABEL.test(label)) &&
    (!host.includes(PUNYCODE) || isPunycode(host, labels))
  );
}

/** Whether each such label stands for a name beyond ASCII. Browsers disagree about others, and so do versions of Node. */
function isPunycode(host: string, labels: readonly string[]): boolean {
  const read = domainToUnicode(host).split(".");
  return labels.every((label, at) => !label.startsWith(PUNYCODE) || !ASCII.test(read[at] ?? ""));
}

function isPort(port: string): boolean {
  return PORT.test(port) && Number(port) <= PORT_MAX;
}
