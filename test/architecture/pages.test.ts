import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { pathsBelow } from "./source-files.ts";

const MARK = /^<!-- (?:run by (?<file>\S+): (?<name>.+)|not run here: (?<reason>.+)) -->$/;
const LINK = /\]\((?!https?:)([^)#\s]+)(?:#[^)\s]*)?\)/g;

const pages = pathsBelow(["deploy"]).filter((path) => path.endsWith(".md"));

test("there are pages", () => {
  expect(pages).toContain("deploy/README.md");
});

test.each(pages)("every command of %s is run by a test, or the page says why not", (page) => {
  const faults = commandBlocks(page).flatMap(({ line, mark }) => {
    const found = MARK.exec(mark)?.groups;
    if (found === undefined) return [`line ${line}: no mark above the commands`];
    const { file, name } = found;
    if (file === undefined || name === undefined) return [];
    if (!existsSync(projectFile(file))) return [`line ${line}: ${file} does not exist`];
    return readFileSync(projectFile(file), "utf8").includes(name)
      ? []
      : [`line ${line}: no test in ${file} is named "${name}"`];
  });
  expect(faults).toEqual([]);
});

test.each(pages)("every link of %s leads to a file", (page) => {
  const text = readFileSync(projectFile(page), "utf8");
  const missing = [...text.matchAll(LINK)]
    .map(([, target = ""]) => target)
    .filter((target) => !existsSync(projectFile(join(dirname(page), target))));
  expect(missing).toEqual([]);
});

/** The blocks of shell commands of a page, each with the line above it. */
function commandBlocks(page: string): { line: number; mark: string }[] {
  const lines = readFileSync(projectFile(page), "utf8").split("\n");
  return lines.flatMap((text, index) =>
    /^\s*```(?:sh|bash)$/.test(text)
      ? [{ line: index + 1, mark: (lines[index - 1] ?? "").trim() }]
      : [],
  );
}
