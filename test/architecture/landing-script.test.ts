import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { servedScript } from "../../ingress/routes/landing-script.ts";
import { projectFile } from "../../schemas/host/project-root.ts";

const SCRIPT = projectFile("ingress", "landing", "sdk.js");
/** Every landing page loads the script, so every first visit pays for its size. */
const BYTES_MAX = 18_000;
const GZIP_BYTES_MAX = 6_000;
const source = readFileSync(SCRIPT, "utf8");

/** Syntax and methods that ES5 does not have: browsers of that time fail on them. */
const FAULTS = [
  ["arrow.js", "var f = () => 1;"],
  ["let.js", "let a = 1;"],
  ["template.js", "var a = `b`;"],
  ["comma.js", "f(1, 2,);"],
  ["shorthand.js", "var a, b = { a };"],
  ["includes.js", '["a"].includes("a");'],
  ["promise.js", "new Promise(function () {});"],
  ["catch.js", "try { f(); } catch { g(); }"],
] as const;

let planted: string;
beforeAll(() => {
  planted = mkdtempSync(join(tmpdir(), "planted-script-"));
  for (const [name, fault] of FAULTS) writeFileSync(join(planted, name), `${fault}\n`);
});
afterAll(() => {
  rmSync(planted, { recursive: true });
});

test("the landing-page script is ES5, in its syntax and in what it calls (SDK-001)", () => {
  const { status, output } = checkEs5(SCRIPT);
  expect(status, output).toBe(0);
});

test.each(FAULTS)("the ES5 check finds the fault in %s", (name) => {
  expect(checkEs5(join(planted, name)).status).not.toBe(0);
});

test("the landing-page script depends on nothing and loads nothing (SDK-001)", () => {
  expect(source).not.toMatch(/\b(import|require|define|eval|Function|importScripts)\s*\(/);
  expect(source).not.toMatch(/createElement\("(?!a")/);
  expect(source).not.toMatch(/https?:\/\/[a-z]/i);
});

test("the landing-page script stays small", () => {
  const served = servedScript(source);
  expect(Buffer.byteLength(served)).toBeLessThanOrEqual(BYTES_MAX);
  expect(gzipSync(served, { level: 9 }).byteLength).toBeLessThanOrEqual(GZIP_BYTES_MAX);
});

/** Runs es-check twice: with `--checkFeatures` it does not parse, and then accepts some newer syntax as ES5. */
function checkEs5(file: string): { status: number; output: string } {
  const program = projectFile("node_modules", "es-check", "lib", "cli", "index.js");
  const runs = [[], ["--checkFeatures"]].map((options) =>
    spawnSync(process.execPath, [program, "es5", file, "--noCache", ...options], {
      encoding: "utf8",
      // es-check reads settings from its working directory.
      cwd: tmpdir(),
    }),
  );
  return {
    status: runs.filter(({ status }) => status !== 0).length,
    output: runs.map(({ stdout, stderr }) => stdout + stderr).join(""),
  };
}
