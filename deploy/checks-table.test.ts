import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CHECKS } from "../schemas/checks/checks.ts";
import { projectFile } from "../schemas/host/project-root.ts";
import { withChecksTable } from "./checks-table.ts";

test("the page of servers has the checks of the list: else `npm run checks:table`", () => {
  const page = readFileSync(projectFile("deploy", "pages", "servers.md"), "utf8");
  expect(page).toBe(withChecksTable(page));
  for (const { id, remedy } of CHECKS) expect(remedy, id).toMatch(/^[a-z].*[^.]$/);
});

test("a page without its marks is not written", () => {
  expect(() => withChecksTable("# Servers\n")).toThrow("marks");
});
