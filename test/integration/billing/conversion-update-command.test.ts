import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "../api/api-world.ts";
import { runTracker } from "../api/run-tracker.ts";
import { UpdateCalls } from "./update-calls.ts";

const world = await forThisFile(ApiWorld.open());
const calls = new UpdateCalls(world, world.tenant);
const offer = await world.offer({ code: "SHOES" });
const folder = mkdtempSync(join(tmpdir(), "conversion-update-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function update(content: string, ...options: string[]): Promise<string> {
  const path = join(folder, "march.csv");
  writeFileSync(path, content);
  const where = ["--workspace", world.tenant.slug];
  return await runTracker(world, "conversion", "update", path, ...where, ...options);
}

test("the command checks a file, and applies it with what is missing (N129)", async () => {
  await calls.insertConversions(offer.id, "C", { count: 2 });
  const content = "order id,status\nC-1,confirmed\nC-9,confirmed\n";
  expect(await update(content, "--offer", "shoes", "--dry-run")).toBe(
    "2 rows, 1 changed, 1 unknown. Nothing was changed.",
  );
  const range = ["--missing", "reject", "--from", "2026-01-01", "--to", "2026-01-31"];
  expect(await update(content, "--offer", "SHOES", ...range)).toMatch(
    /^Update \d+: 3 rows, 2 changed, 1 unknown, 1 missing in the file\.$/,
  );
  expect(await calls.states("C")).toEqual([
    "C-1 approved manual 100.0000 5.0000 15.0000",
    "C-2 rejected not in the file 100.0000 5.0000 15.0000",
  ]);
  await expect(update(content, ...range)).rejects.toThrow("--offer: required with missing=reject");
  await expect(update("status\nx\n")).rejects.toThrow("No column names a conversion.");
});
