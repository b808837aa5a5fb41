import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { readRuns } from "../figures/run-file.ts";
import { HERE } from "./known-inputs.ts";
import { withPrintedTables } from "./printed-tables.ts";
import { withSizingTables } from "./sizing-page.ts";

const sizing = readFileSync(projectFile("deploy", "pages", "sizing.md"), "utf8");
const readme = readFileSync(projectFile("test", "bench", "README.md"), "utf8");

test("sizing.md has the figures that capacity calculates with: else `npm run sizing:table`", () => {
  expect(sizing).toBe(withSizingTables(sizing, readRuns(), HERE));
});

test("the README of the bench prints what capacity prints: else `npm run sizing:table`", () => {
  expect(readme).toBe(withPrintedTables(readme, readRuns(), HERE));
});

test("another figure of a quieter machine changes both pages", () => {
  const quieter = {
    bench: "writer",
    machine: HERE,
    date: "2100-01-01",
    commit: "0123456789",
    busy: 0,
    figures: { writerRowsPerSecond: 123_456 },
  };
  const louder = { ...quieter, busy: 1.5, figures: { writerRowsPerSecond: 12_345 } };
  const runs = [...readRuns(), quieter, louder];
  expect(withSizingTables(sizing, runs, HERE)).toContain("123,456 rows/s of one writer");
  expect(withPrintedTables(readme, runs, HERE)).not.toBe(readme);
  expect(() => withSizingTables("# Sizing\n", runs, HERE)).toThrow("marks around click");
  expect(() => withPrintedTables("# bench\n", runs, HERE)).toThrow("lost the tables");
});
