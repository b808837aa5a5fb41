import { readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { Cruise } from "./cruise.ts";

const IMPORTS_FILE = projectFile(".build", "imports.json");

const Imports = z.record(z.string(), z.array(z.string()));
/** What each module of this project imports, by paths from the root. */
export type Imports = Readonly<Record<string, readonly string[]>>;

export function writeImports(modules: Cruise["modules"]): void {
  const imports = modules
    // Modules of packages and of Node.js are not ours.
    .filter(({ source }) => !source.startsWith("node_modules/") && !isBuiltin(source))
    .map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => resolved)]);
  writeFileSync(IMPORTS_FILE, JSON.stringify(Object.fromEntries(imports)));
}

/** @throws before `npm run check` has written it */
export function readImports(): Imports {
  return Imports.parse(JSON.parse(readFileSync(IMPORTS_FILE, "utf8")));
}

/** Programs that tests and the launcher start by path. */
const PROGRAMS = [
  "ingress/main.ts",
  "ingress/ship/main.ts",
  "processors/main.ts",
  "api/main.ts",
  "api/tracker.ts",
  "deploy/tracker.ts",
  "deploy/local/main.ts",
  "deploy/local/leash.ts",
  "deploy/local/clickhouse-engine.ts",
] as const;

/** `projectFile(".build", "test", "system", "set-clock.js")` names a program whose path has no variable part. */
const NAMED = /"\.build"((?:,\s*"[^"]+")+)\)/g;

/** A path of compiled code, in a module that starts programs. */
const PATH = /"\.build[/"]/;
const STARTS = /\b(?:spawn|execFile|fork|program|command)\b/i;

/**
 * The modules that run when `path` runs: what it imports, directly or not, and what is started by path from one of these modules. A
 * module that names `.build` with a computed path may start every program.
 */
export function closureOf(
  path: string,
  imports: Imports,
  textOf: (path: string) => string = (module) => readFileSync(projectFile(module), "utf8"),
): Set<string> {
  const found = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next) || next.startsWith("node_modules/")) continue;
    const imported = imports[next];
    if (imported === undefined) continue;
    found.add(next);
    waiting.push(...imported, ...startedBy(textOf(next)));
  }
  return found;
}

function startedBy(text: string): readonly string[] {
  if (!PATH.test(text) || !STARTS.test(text)) return [];
  const named = [...text.matchAll(NAMED)].map(([, parts = ""]) =>
    [...parts.matchAll(/"([^"]+)"/g)]
      .map(([, part]) => part)
      .join("/")
      .replace(/\.js$/, ".ts"),
  );
  // The launcher and the one program start any other.
  const startsAny = named.length === 0 || named.some((name) => name.startsWith("deploy/"));
  return startsAny ? [...PROGRAMS, ...named] : named;
}
