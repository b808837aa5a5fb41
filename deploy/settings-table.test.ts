import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../schemas/host/project-root.ts";
import { withSettingsTable } from "./settings-table.ts";

test("the settings in the README are those of the definitions: else `npm run settings:table`", () => {
  const readme = readFileSync(projectFile("deploy", "README.md"), "utf8");
  expect(readme).toBe(withSettingsTable(readme));
});

test("a README without its marks is not written", () => {
  expect(() => withSettingsTable("# deploy\n")).toThrow("marks");
});
