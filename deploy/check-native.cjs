/*
 * `node deploy/check-native.cjs [FOLDER]`: ends with code 1 unless the native file that the ingress will load from FOLDER/node_modules is the one
 * in deploy/uwebsockets.sha256. FOLDER is this checkout by default. It runs before anything is compiled, so it is JavaScript.
 */
"use strict";

const { createHash } = require("node:crypto");
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const LIST = "deploy/uwebsockets.sha256";
const PAGE = "deploy/pages/security.md";
const ROOT = join(__dirname, "..");

/** The hash of each file, by its name. */
function knownHashes() {
  const lines = readFileSync(join(ROOT, LIST), "utf8").trim().split("\n");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** What is wrong and what to do; undefined if the file is the known one. */
function faultIn(folder) {
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const file = join(folder, "node_modules", "uWebSockets.js", name);
  const known = knownHashes().get(name);
  if (known === undefined) {
    return (
      `${LIST} has no ${name}: Node ${process.version} on ${process.platform} ${process.arch} is not supported. ` +
      "Use Node 20, 22, 24 or 25 on Linux or macOS (x64 or arm64)."
    );
  }
  if (!existsSync(file)) return `${file} is missing: run \`npm ci\`.`;
  const found = createHash("sha256").update(readFileSync(file)).digest("hex");
  if (found === known) return undefined;
  return (
    `${file} is not the file that this release was checked with, and nothing was built.\n` +
    `  expected SHA-256  ${known}\n` +
    `  found             ${found}\n` +
    "Run `npm ci`, which installs the locked package. If the hash still differs, somebody has changed the package: do not run it. If " +
    `you have replaced the file yourself, check it as ${PAGE} says under "uWebSockets.js", then write its hash into ${LIST}.`
  );
}

const [, , folder = ROOT] = process.argv;
const fault = faultIn(folder);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}
