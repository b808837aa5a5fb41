import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepFilesPrivate } from "./kept-files.ts";

let folder: string;
let umask: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "private-files-"));
  umask = process.umask();
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

const modeOf = (...path: string[]): number => statSync(join(folder, ...path)).mode & 0o777;

test("what is made from now on is for its owner alone, and what was open is closed (#18)", () => {
  process.umask(0o022);
  const dataDir = join(folder, "data");
  mkdirSync(join(dataDir, "clickhouse", "store"), { recursive: true });
  writeFileSync(join(dataDir, "ports.json"), "{}");
  writeFileSync(join(dataDir, "run.sh"), "");
  chmodSync(join(dataDir, "run.sh"), 0o755);
  const outside = join(folder, "outside");
  writeFileSync(outside, "");
  symlinkSync(outside, join(dataDir, "link"));
  keepFilesPrivate(dataDir);
  keepFilesPrivate(dataDir);
  expect(modeOf("data") & 0o066).toBe(0);
  expect(modeOf("data", "clickhouse")).toBe(0o700);
  expect([modeOf("data", "ports.json"), modeOf("data", "run.sh")]).toEqual([0o600, 0o700]);
  // Only what lies in the folder itself.
  expect(modeOf("outside")).toBe(0o644);
  mkdirSync(join(dataDir, "nats"));
  writeFileSync(join(dataDir, "nats", "block"), "");
  expect([modeOf("data", "nats"), modeOf("data", "nats", "block")]).toEqual([0o700, 0o600]);
});

test("a folder that is not there yet is made", () => {
  keepFilesPrivate(join(folder, "new", "data"));
  expect(modeOf("new", "data") & 0o066).toBe(0);
});
