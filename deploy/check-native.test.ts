import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../schemas/host/project-root.ts";

const PACKAGE = join("node_modules", "uWebSockets.js");
const LOADED = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-native-"));
  mkdirSync(join(folder, PACKAGE), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function check(): { readonly code: number | null; readonly said: string } {
  const { status, stderr } = spawnSync(
    process.execPath,
    [projectFile("deploy", "check-native.cjs"), folder],
    { encoding: "utf8" },
  );
  return { code: status, said: stderr };
}

function listed(): Map<string, string> {
  const lines = readFileSync(projectFile("deploy", "uwebsockets.sha256"), "utf8").trim();
  return new Map(
    lines.split("\n").map((line) => {
      const [, hash = "", name = ""] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
      return [name, hash];
    }),
  );
}

test("a native file with one other byte stops the build, with both hashes and what to do", () => {
  const bytes = readFileSync(projectFile(PACKAGE, LOADED));
  writeFileSync(join(folder, PACKAGE, LOADED), bytes);
  expect(check()).toEqual({ code: 0, said: "" });
  bytes[4_711] = (bytes[4_711] ?? 0) ^ 1;
  writeFileSync(join(folder, PACKAGE, LOADED), bytes);
  const { code, said } = check();
  expect(code).toBe(1);
  expect(said).toContain(listed().get(LOADED));
  expect(said).toContain(createHash("sha256").update(bytes).digest("hex"));
  expect(said).toMatch(/nothing was built.*Run `npm ci`.*deploy\/pages\/security\.md/s);
});

test("a missing native file stops the build and says how to get it", () => {
  expect(check()).toEqual({
    code: 1,
    said: `${join(folder, PACKAGE, LOADED)} is missing: run \`npm ci\`.\n`,
  });
});

test("the list has the installed files of Linux and macOS, x64 and arm64, for every supported Node", () => {
  const names = ["darwin", "linux"].flatMap((system) =>
    ["arm64", "x64"].flatMap((machine) =>
      [115, 127, 137, 141].map((abi) => `uws_${system}_${machine}_${abi}.node`),
    ),
  );
  expect([...listed().keys()].sort()).toEqual(names.sort());
  for (const [name, hash] of listed()) {
    const bytes = readFileSync(projectFile(PACKAGE, name));
    expect(createHash("sha256").update(bytes).digest("hex"), name).toBe(hash);
  }
});

test("the build and the image check the native file before anything else is made of it", () => {
  const { scripts } = z
    .object({ scripts: z.object({ build: z.string() }) })
    .parse(JSON.parse(readFileSync(projectFile("package.json"), "utf8")));
  expect(scripts.build).toMatch(/^node deploy\/check-native\.cjs && /);
  const assemble = readFileSync(projectFile("deploy", "image", "assemble.sh"), "utf8");
  expect(assemble).toContain('node "$root/deploy/check-native.cjs" "$to"');
});
