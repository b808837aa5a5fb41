import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingressNodeCommand } from "./private-glibc.ts";
import type { Report } from "./report.ts";

let folder: string;
const noted: string[] = [];
const report: Report = {
  note: (part, text) => void noted.push(`${part}: ${text}`),
  warn: (part, text) => void noted.push(`${part}: ${text}`),
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-old-system-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A Node.js on which loading uWebSockets.js fails in this way. */
function nodeThatFails(name: string, sentence: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\ncat >&2 <<'END'\nError: ${sentence}\nEND\nexit 1\n`);
  chmodSync(file, 0o755);
  return file;
}

test("on an old C library a start downloads nothing, and says which command prepares the host (G262)", async () => {
  const runtimeDir = join(folder, "journal", "runtime");
  const node = nodeThatFails("old", "/lib/libc.so.6: version `GLIBC_2.38' not found");
  await expect(
    ingressNodeCommand({ node, runtimeDir, report, ifMissing: "refuse" }),
  ).rejects.toThrow(
    /GLIBC_2\.38.*nothing is downloaded at a start.*glibc 2\.38.*`tracker ingress --prepare`.*runtime\/glibc/s,
  );
  expect(existsSync(runtimeDir)).toBe(false);
  expect(noted).toEqual([]);
});

test("another fault of the native server names itself and no download (G262)", async () => {
  const runtimeDir = join(folder, "other");
  const node = nodeThatFails("broken", "this Node.js is too new");
  for (const ifMissing of ["refuse", "download"] as const) {
    const asked = ingressNodeCommand({ node, runtimeDir, report, ifMissing });
    await expect(asked).rejects.toThrow(/this Node\.js is too new.*Use Node 20/s);
  }
  expect(readdirSync(folder)).not.toContain("other");
});
