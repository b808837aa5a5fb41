import { basename } from "node:path";
import type { DeepResult } from "./deep-results.ts";
import { closureOf, type Imports } from "./import-graph.ts";

/** The paths that differ between a commit and this tree; undefined if that is not known. */
export type ChangedSince = (commit: string) => readonly string[] | undefined;

export type TouchedOptions = {
  readonly files: readonly string[];
  readonly imports: Imports;
  readonly results: readonly DeepResult[];
  readonly changedSince: ChangedSince;
  readonly textOf: (path: string) => string;
};

/** Results of tests, and what people read outside of `deploy/`. */
const NO_EFFECT =
  /^test\/deep\/results\.jsonl$|^test\/promises\/figures\/|^api\/console\/pictures\/|\/(?:DECISIONS|README)\.md$/;
/** The pages of the console are built with vite and served by the api: only a browser runs them. */
const PAGES = "api/console/web/";
const BROWSER = "test/browser/chromium-program.ts";

/**
 * The deep test files whose newest result says nothing about this tree: there is none, it failed, or one of the modules that run in the
 * test has changed since. A changed file that no module imports (SQL, charts, scripts, the lock file) touches every test, a Markdown file
 * only the tests that name it, a file of the console's pages those that open a browser.
 */
export function touchedFiles({
  files,
  imports,
  results,
  changedSince,
  textOf,
}: TouchedOptions): string[] {
  const newest = new Map(results.map((result) => [result.file, result]));
  return files.filter((file) => {
    const result = newest.get(file);
    if (result?.result !== "passed" || result.commit.endsWith("-changed")) return true;
    const changed = changedSince(result.commit);
    if (changed === undefined) return true;
    const relevant = changed.filter((path) => !NO_EFFECT.test(path));
    if (relevant.length === 0) return false;
    const closure = closureOf(file, imports, textOf);
    return relevant.some((path) => {
      if (path.endsWith(".md"))
        return [...closure].some((module) => textOf(module).includes(basename(path)));
      if (path.startsWith(PAGES)) return closure.has(path) || closure.has(BROWSER);
      return /\.tsx?$/.test(path) ? closure.has(path) : true;
    });
  });
}
