/**
 * A step of `npm run build`: makes the web part of the console in `.build/console` (or in the folder that is named), with the types of its
 * client from our own OpenAPI document, and its forms of records that api/fields describes. Does nothing if neither the sources nor these
 * nor the dependencies have changed.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { projectFile } from "../schemas/host/project-root.ts";
import { systemClock } from "../schemas/time/clock.ts";
import { DAY_MS } from "../schemas/time/zone.ts";
import { buildOpenApi } from "./docs/openapi/openapi.ts";
import { ADVERTISER } from "./fields/advertiser.ts";
import { AFFILIATE } from "./fields/affiliate.ts";
import { EVENT } from "./fields/event.ts";
import { formParts, formStart } from "./fields/field.ts";
import { OFFER } from "./fields/offer.ts";
import { operations } from "./operations.ts";

const WEB = projectFile("api", "console", "web");
/** A tab that was open before an update still asks for its files. */
const OLD_ASSETS_KEPT_MS = 14 * DAY_MS;
/** Programs that take longer than this hang. */
const PROGRAM_MS_MAX = 300_000;

function main(folder: string): void {
  const document = JSON.stringify(buildOpenApi({ operations, baseUrl: "/api/v1" }));
  const forms = {
    OFFER: formParts(OFFER),
    NEW_OFFER: formStart(OFFER),
    EVENT: formParts(EVENT),
    AFFILIATE: formParts(AFFILIATE),
    NEW_AFFILIATE: formStart(AFFILIATE),
    ADVERTISER: formParts(ADVERTISER),
    NEW_ADVERTISER: formStart(ADVERTISER),
  };
  const hash = hashOf(document + JSON.stringify(forms));
  const note = join(folder, "built");
  if (existsSync(note) && readFileSync(note, "utf8") === hash) return;
  mkdirSync(folder, { recursive: true });
  writeTypes(document);
  writeForms(forms);
  const dist = join(folder, "dist");
  run("vite", [
    "build",
    "--config",
    join(WEB, "vite.config.ts"),
    "--outDir",
    dist,
    "--logLevel",
    "warn",
  ]);
  removeOldAssets(dist);
  writeFileSync(note, hash);
}

/** The sources import the types from `.build/console`, wherever the result goes. */
function writeTypes(document: string): void {
  const folder = projectFile(".build", "console");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "openapi.json");
  writeFileSync(file, document);
  run("openapi-typescript", [file, "--output", join(folder, "openapi.ts")]);
}

/** The sources import them by name. A value in JSON is its own type, too. */
function writeForms(forms: Readonly<Record<string, object>>): void {
  const lines = (keyword: string, sign: string): string =>
    Object.entries(forms)
      .map(([name, value]) => `export ${keyword} ${name}${sign} ${JSON.stringify(value)};\n`)
      .join("");
  const file = projectFile(".build", "console", "forms");
  writeFileSync(`${file}.js`, lines("const", " ="));
  writeFileSync(`${file}.d.ts`, lines("declare const", ":"));
}

const PROGRAMS = {
  vite: ["vite", "bin", "vite.js"],
  "openapi-typescript": ["openapi-typescript", "bin", "cli.js"],
} as const;

/** Run by path, because the product must not import what only its build needs. */
function run(name: keyof typeof PROGRAMS, args: readonly string[]): void {
  const program = projectFile("node_modules", ...PROGRAMS[name]);
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program, ...args], {
    cwd: projectFile(),
    encoding: "utf8",
    timeout: PROGRAM_MS_MAX,
  });
  if (status === 0) return;
  const output = `${stdout}${stderr}`.trim();
  throw new Error(`${name} could not build the console: ${error?.message ?? output}`);
}

function removeOldAssets(dist: string): void {
  const assets = join(dist, "assets");
  const oldestMs = systemClock.nowMs() - OLD_ASSETS_KEPT_MS;
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    if (statSync(file).mtimeMs < oldestMs) rmSync(file);
  }
}

function hashOf(document: string): string {
  const hash = createHash("sha256").update(document);
  for (const file of [...filesBelow(WEB), projectFile("package-lock.json")]) {
    hash.update(file).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

main(resolve(process.argv[2] ?? projectFile(".build", "console")));
