import { domainToASCII } from "node:url";

type Rule = {
  /** `*.example.com`: names below it, without the name itself. */
  readonly below: boolean;
  /** `example.com`: the name itself. An entry without a star allows both. */
  readonly itself: boolean;
  /** "" allows every port. */
  readonly port: string;
};

/** Hosts that may be redirected to (G139). */
export type Allowlist = ReadonlyMap<string, readonly Rule[]>;

/** Compiles the allowed hosts from entries such as `example.com`, `*.example.com` and `example.com:8443`. */
export function compileAllowlist(entries: readonly string[], ownHost = ""): Allowlist {
  const rules = new Map<string, Rule[]>();
  const add = (host: string, rule: Rule): void => {
    rules.set(host, [...(rules.get(host) ?? []), rule]);
  };
  for (const entry of entries) {
    const { host, port, isBelow } = parseEntry(entry);
    if (host !== "") add(host, { below: true, itself: !isBelow, port });
  }
  // The host of the offer's own destination, without the names below it.
  if (ownHost !== "") add(ownHost, { below: false, itself: true, port: "" });
  return rules;
}

/** `host` as {@link judgeAuthority} returns it; `port` is the effective one. */
export function isAllowed(list: Allowlist, host: string, port: string): boolean {
  if (list.size === 0) return false;
  for (let from = 0; from >= 0; from = host.indexOf(".", from) + 1 || -1) {
    for (const rule of list.get(from === 0 ? host : host.slice(from)) ?? []) {
      const fits = from === 0 ? rule.itself : rule.below;
      if (fits && (rule.port === "" || rule.port === port)) return true;
    }
  }
  return false;
}

function parseEntry(entry: string): { host: string; port: string; isBelow: boolean } {
  const text = entry.trim().toLowerCase();
  const isBelow = text.startsWith("*.");
  const [name = "", port = ""] = (isBelow ? text.slice(2) : text).split(":");
  const host = domainToASCII(name.endsWith(".") ? name.slice(0, -1) : name);
  return { host, port, isBelow };
}
