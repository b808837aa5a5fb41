import { dirname } from "node:path";
import type { Imports } from "../tiers/import-graph.ts";

/** The rooms of `api/`, upper first: a room imports only rooms below it. Files beside the rooms put them together. */
export const API_ROOMS: readonly string[] = [
  "cli",
  "mcp",
  "console",
  "docs",
  "workspace",
  "people",
  "billing",
  "traffic",
  "reports",
  "messages",
  "catalog",
  "records",
  "http",
  "access",
  "fields",
  "operation",
];

/** The steps of a report in `processors/conversions/`, last first. */
export const CONVERSION_ROOMS: readonly string[] = [
  "answer",
  "judge",
  "record",
  "attribute",
  "read",
  "report",
];

/** The parts of the click writer in `processors/clicks/`. The parts between intake and rows are leaves. */
export const CLICK_ROOMS: readonly string[] = [
  "lane",
  "intake",
  "young",
  "visits",
  "caps",
  "erasure",
  "rows",
];

type Import = { readonly from: string; readonly to: string };

/** Imports among the folders of `parent` that go up in the order. */
export function upwardImports(
  parent: string,
  order: readonly string[],
  imports: Imports,
): readonly Import[] {
  const levelOf = (path: string): number =>
    path.startsWith(`${parent}/`)
      ? order.indexOf(path.slice(parent.length + 1).split("/")[0] ?? "")
      : -1;
  return pairsOf(imports).filter(({ from, to }) => levelOf(to) >= 0 && levelOf(to) < levelOf(from));
}

/** Imports from a folder of `parent` of a file beside the folders. */
export function importsOfTop(parent: string, imports: Imports): readonly Import[] {
  return pairsOf(imports).filter(
    ({ from, to }) => dirname(from).startsWith(`${parent}/`) && dirname(to) === parent,
  );
}

/** Folders with the same parent that import each other, each pair once, with an import of each direction. */
export function mutualFolders(imports: Imports): ReadonlyMap<string, readonly [Import, Import]> {
  const first = new Map<string, Import>();
  for (const { from, to } of pairsOf(imports)) {
    const sides = siblingFolders(from, to);
    if (sides !== undefined && !first.has(sides.join(" ")))
      first.set(sides.join(" "), { from, to });
  }
  const mutual = new Map<string, readonly [Import, Import]>();
  for (const [name, there] of first) {
    const [a = "", b = ""] = name.split(" ");
    const back = first.get(`${b} ${a}`);
    if (back !== undefined && a < b) mutual.set(`${a} and ${b}`, [there, back]);
  }
  return mutual;
}

function pairsOf(imports: Imports): readonly Import[] {
  return Object.entries(imports).flatMap(([from, targets]) =>
    targets.map((to) => ({ from, to })).filter((pair) => !isTest(pair.from) && !isTest(pair.to)),
  );
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** The folders in which the two paths part; undefined if one of the two is a file there. */
function siblingFolders(from: string, to: string): readonly [string, string] | undefined {
  const [a, b] = [from.split("/"), to.split("/")];
  const depth = a.findIndex((part, place) => part !== b[place]) + 1;
  if (depth < 1 || a.length <= depth || b.length <= depth) return undefined;
  return [a.slice(0, depth).join("/"), b.slice(0, depth).join("/")];
}
