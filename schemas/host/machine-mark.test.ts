import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machineMark } from "./machine-mark.ts";

test("two machines have different marks, which stay and do not show their ids (G263)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-machine-"));
  try {
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const one = file("one", `${"ab".repeat(16)}\n`);
    const other = file("other", `${"cd".repeat(16)}\n`);
    expect(machineMark(one)).toMatch(/^[0-9a-f]{8}$/);
    expect(machineMark(one)).toBe(machineMark(one));
    expect(machineMark(one)).not.toBe(machineMark(other));
    expect("ab".repeat(16)).not.toContain(machineMark(one));
    expect(machineMark(file("empty", ""))).toBe("");
    expect(machineMark(file("new", "uninitialized\n"))).toBe("");
    expect(machineMark(join(folder, "missing"))).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
