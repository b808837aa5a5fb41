import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../schemas/host/project-root.ts";
import { withSettingsTable } from "./settings-table.ts";

test("the settings in the page are those of the definitions: else `npm run settings:table`", () => {
  const page = readFileSync(projectFile("deploy", "pages", "settings.md"), "utf8");
  expect(page).toBe(withSettingsTable(page));
});

test("a page without its marks is not written", () => {
  expect(() => withSettingsTable("# deploy\n")).toThrow("marks");
});
