import { domainToASCII } from "node:url";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { WorkspaceBlocklistEntry } from "../../schemas/catalog/records.ts";
import { decodePercent } from "../request/decode.ts";
import { compiled, derivedIndex } from "./derived-index.ts";
import type { TargetUrl } from "./target-url.ts";

/** Path prefixes of a host, sorted; no prefix begins another prefix. "" stands for the whole site. */
type Prefixes = readonly string[];
type Blocklist = ReadonlyMap<string, Prefixes>;

const blocklistOf = derivedIndex<string, Blocklist>((catalog) => catalog.blocklist, compile);

const blocklistsOf = derivedIndex<WorkspaceBlocklistEntry, ReadonlyMap<number, Blocklist>>(
  (catalog) => catalog.workspaceBlocklist,
  compileEach,
);

/** Whether the installation's list of malicious sites contains the target: its host, a host above it, or a path of it (G142). */
export function isUnsafe(catalog: Catalog, target: TargetUrl): boolean {
  return catalog.blocklist.size > 0 && isListed(blocklistOf(catalog), target);
}

/** The same for the list of one workspace, which applies in addition to the installation's (G201). */
export function isUnsafeIn(catalog: Catalog, workspaceId: number, target: TargetUrl): boolean {
  if (catalog.workspaceBlocklist.size === 0) return false;
  const list = blocklistsOf(catalog).get(workspaceId);
  return list !== undefined && isListed(list, target);
}

function isListed(list: Blocklist, target: TargetUrl): boolean {
  const { host } = target;
  for (let from = 0; from >= 0; from = host.indexOf(".", from) + 1 || -1) {
    const prefixes = list.get(host.slice(from));
    if (prefixes === undefined) continue;
    const isWhole = prefixes[0] === "";
    if (isWhole || spellings(target).some((path) => isBelow(path, prefixes))) return true;
  }
  return false;
}

/** The path as written, as browsers resolve it (`/a/../b`), and without escapes (`/%62`): a server may serve any of them. */
const spellings = compiled<TargetUrl, readonly string[]>(({ location, path }) => {
  const { pathname } = new URL(location);
  return [path, pathname, decodePercent(pathname)];
});

/** Looks at one prefix only, the last that is not behind the path: a prefix of the path between the two would begin it too. */
function isBelow(path: string, prefixes: Prefixes): boolean {
  let [from, to] = [0, prefixes.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((prefixes[middle] ?? "") <= path) from = middle + 1;
    else to = middle;
  }
  const last = prefixes[from - 1];
  return last !== undefined && path.startsWith(last);
}

function compileEach(entries: readonly WorkspaceBlocklistEntry[]): ReadonlyMap<number, Blocklist> {
  const byWorkspace = new Map<number, string[]>();
  for (const { workspace_id: id, entry } of entries) {
    const known = byWorkspace.get(id);
    if (known === undefined) byWorkspace.set(id, [entry]);
    else known.push(entry);
  }
  return new Map(Array.from(byWorkspace, ([id, own]) => [id, compile(own)]));
}

function compile(entries: readonly string[]): Blocklist {
  const byHost = new Map<string, string[]>();
  for (const entry of entries) {
    const text = entry.trim().replace(/^https?:\/\//i, "");
    const slash = text.indexOf("/");
    const name = slash < 0 ? text : text.slice(0, slash);
    const host = domainToASCII(name.toLowerCase().replace(/\.$/, ""));
    const path = slash < 0 || text.length === slash + 1 ? "" : text.slice(slash);
    if (host === "") continue;
    const known = byHost.get(host);
    if (known === undefined) byHost.set(host, [path]);
    else known.push(path);
  }
  return new Map(Array.from(byHost, ([host, paths]) => [host, prefixesOf(paths)]));
}

function prefixesOf(paths: readonly string[]): Prefixes {
  const prefixes: string[] = [];
  for (const path of paths.toSorted()) {
    const last = prefixes.at(-1);
    if (last === undefined || !path.startsWith(last)) prefixes.push(path);
  }
  return prefixes;
}
