import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MovedEpochs } from "./moved-epochs.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-moved-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("an epoch has another number only once that number is on the disk (P9)", async () => {
  const obstacle = join(folder, "moved.new");
  mkdirSync(obstacle);
  const moved = new MovedEpochs(folder);
  await expect(moved.move(3, () => Promise.resolve(8))).rejects.toThrow("EISDIR");
  expect(moved.producerOf(3)).toBeUndefined();
  rmdirSync(obstacle);
  await moved.move(3, () => Promise.reject(new Error("another number is asked for")));
  expect([moved.producerOf(3), new MovedEpochs(folder).producerOf(3)]).toEqual([8, 8]);
});
