/*
 * `node deploy/run-built.cjs PROGRAM …`: runs a compiled program, and compiles the sources first if any of them has changed since the
 * last build. It runs before anything is compiled, so it is JavaScript.
 */
"use strict";

const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { existsSync, readdirSync, readFileSync, statSync, writeFileSync } = require("node:fs");
const nodeModule = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const ROOT = join(__dirname, "..");
const NOTE = join(ROOT, ".build", "built-from");
const FOLDERS = ["ingress", "processors", "api", "schemas", "deploy", "test"];
const FILES = ["package.json", "package-lock.json", "tsconfig.json"];

/** Differs after a source was added, removed or written, and for another commit. */
function stateOfSources() {
  const hash = createHash("sha256");
  const note = (path) => {
    const { mtimeMs = 0, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  };
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (/\.(ts|tsx|css|html|svg|js|json)$/.test(entry.name)) note(path);
    }
  };
  for (const folder of FOLDERS) visit(join(ROOT, folder));
  for (const file of FILES) note(join(ROOT, file));
  const commit = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  return hash.update(commit.stdout ?? "").digest("hex");
}

/** Returns the exit code of the build; 0 without one. */
function buildIfChanged() {
  // Taken before the build, so that a source which is written meanwhile is compiled next time.
  const state = stateOfSources();
  if (existsSync(NOTE) && readFileSync(NOTE, "utf8") === state) return 0;
  const build = spawnSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: "inherit" });
  if (build.status === 0) writeFileSync(NOTE, state);
  return build.status ?? 1;
}

const [node, , program = "", ...args] = process.argv;
const code = buildIfChanged();
if (code === 0) {
  // From Node 22 on, code that was compiled at an earlier start is not compiled again.
  nodeModule.enableCompileCache?.();
  const path = join(ROOT, program);
  process.argv = [node, path, ...args];
  void import(pathToFileURL(path).href);
} else process.exitCode = code;
