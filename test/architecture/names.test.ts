import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { projectFile, projectRoot } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

/** Names that say nothing about the content, so that anything ends up there. `index` would be a barrel. */
const JUNK_DRAWER =
  /(^|\/)(utils?|helpers?|common|shared|misc|lib|core|types|constants|index)(\.tsx?|\/)$/;

const paths = pathsBelow([...PRODUCT_FOLDERS, "test"]);

test("no file or folder is a junk drawer or a barrel", () => {
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => JUNK_DRAWER.test(path))).toEqual([]);
});

test.each([
  "api/utils.ts",
  "api/helpers/",
  "schemas/types.ts",
  "processors/clicks/index.ts",
  "test/shared/",
])("the name %s is refused", (path) => {
  expect(JUNK_DRAWER.test(path)).toBe(true);
});

test.each(["api/reports/dimensions.ts", "schemas/host/lifetime.ts", "ingress/core-web.ts"])(
  "the name %s is allowed",
  (path) => {
    expect(JUNK_DRAWER.test(path)).toBe(false);
  },
);

test("the top level holds the six folders and no other", () => {
  const folders = readdirSync(projectRoot, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map((entry) => entry.name)
    .filter((name) => name !== "node_modules");
  expect(folders.toSorted()).toEqual([...PRODUCT_FOLDERS, "test"].toSorted());
});

test("the name of a test has at most 100 characters", () => {
  const names = paths.filter((path) => /\.test\.tsx?$/.test(path)).flatMap(namesOf);
  expect(names.length).toBeGreaterThan(1_500);
  expect(names.filter((name) => name.length > 100)).toEqual([]);
});

/** Names of tests and of their groups, as they are written. */
function namesOf(path: string): string[] {
  const text = readFileSync(projectFile(path), "utf8");
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const first = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    const isNamed =
      ts.isCallExpression(node) && /^(test|describe)\b/.test(node.expression.getText());
    if (isNamed && first !== undefined && ts.isStringLiteralLike(first)) names.push(first.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}
