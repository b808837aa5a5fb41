import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "./project-root.ts";

export type BuildInfo = { readonly version: string; readonly commit: string };

const Package = z.object({ version: z.string() });
const UNKNOWN = "unknown";

let known: BuildInfo | undefined;

/** The release that runs, and the commit that `npm run build` was run at; "unknown" where that was not a checkout. */
export function buildInfo(): BuildInfo {
  known ??= { version: readVersion(), commit: readCommit() };
  return known;
}

function readVersion(): string {
  return Package.parse(JSON.parse(readFileSync(projectFile("package.json"), "utf8"))).version;
}

function readCommit(): string {
  const file = projectFile(".build", "commit");
  return (existsSync(file) && readFileSync(file, "utf8").trim()) || UNKNOWN;
}
