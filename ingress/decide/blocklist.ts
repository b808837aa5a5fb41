import { domainToASCII } from "node:url";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { decodePercent } from "../request/decode.ts";
import { derivedIndex } from "./derived-index.ts";
import type { TargetUrl } from "./target-url.ts";

/** Path prefixes by host; "" is the whole site. */
type Blocklist = ReadonlyMap<string, readonly string[]>;

const blocklistOf = derivedIndex<string, Blocklist>((catalog) => catalog.blocklist, compile);

/** Whether the installation's list of malicious sites names the target: its host, a host above it, or a path of it (G142). */
export function isUnsafe(catalog: Catalog, target: TargetUrl): boolean {
  if (catalog.blocklist.size === 0) return false;
  const list = blocklistOf(catalog);
  const { host } = target;
  for (let from = 0; from >= 0; from = host.indexOf(".", from) + 1 || -1) {
    const prefixes = list.get(host.slice(from));
    if (prefixes?.some((prefix) => prefix === "" || isBelow(target, prefix))) return true;
  }
  return false;
}

function isBelow(target: TargetUrl, prefix: string): boolean {
  // The path as written, as browsers resolve it (`/a/../b`), and without escapes (`/%62`): any of them may be what is served.
  const { pathname } = new URL(target.location);
  return [target.path, pathname, decodePercent(pathname)].some((path) => path.startsWith(prefix));
}

function compile(entries: readonly string[]): Blocklist {
  const list = new Map<string, string[]>();
  for (const entry of entries) {
    const text = entry.trim().replace(/^https?:\/\//i, "");
    const slash = text.indexOf("/");
    const name = slash < 0 ? text : text.slice(0, slash);
    const host = domainToASCII(name.toLowerCase().replace(/\.$/, ""));
    const path = slash < 0 || text.length === slash + 1 ? "" : text.slice(slash);
    if (host !== "") list.set(host, [...(list.get(host) ?? []), path]);
  }
  return list;
}
