import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";

const TITLE = "## Follow the code";
/** A step as the README writes it: `path` `name`. */
const STEP = /`([\w./-]+[.](?:ts|sql))` `([\w#]+)`/g;

const readme = readFileSync(projectFile("README.md"), "utf8");
const ways = readme.slice(readme.indexOf(TITLE) + TITLE.length).split("\n## ")[0] ?? "";
const steps = [...ways.matchAll(STEP)].map(([, path = "", name = ""]) => [path, name] as const);

test("the README lists the functions that a click, a postback, a report and a change of an offer pass", () => {
  const titles = [...ways.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, title]) => title);
  expect(titles).toEqual(["A click", "A postback", "A report", "A change of an offer"]);
  expect(steps.length).toBeGreaterThan(25);
});

test.each(steps)("%s has %s", (path, name) => {
  expect(existsSync(projectFile(path))).toBe(true);
  const declarations = [
    `^(export )?(async )?(function[*]?|class|const) ${name}\\b`,
    `^  (async )?${name}\\(`,
    `^create or replace function ${name}\\(`,
  ];
  expect(readFileSync(projectFile(path), "utf8")).toMatch(new RegExp(declarations.join("|"), "m"));
});
