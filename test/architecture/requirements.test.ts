import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

/** Areas that are finished, and how many requirements each has; they are numbered from 001. */
const FINISHED: Readonly<Record<string, number>> = {
  PB: 66,
  PX: 15,
  CNV: 39,
  LIFE: 48,
  TRK: 50,
  AUTH: 27,
  VIS: 59,
  CRE: 9,
  PBO: 33,
  LNK: 31,
  DEAL: 9,
  LINT: 50,
  LIM: 14,
  CLKS: 18,
  IMP: 4,
  LP: 20,
  SDK: 27,
  CLK: 29,
  ENV: 37,
  ME: 8,
  OFF: 65,
  AFF: 30,
  ADV: 9,
  OAS: 3,
  ERR: 13,
  WH: 22,
  MCP: 39,
  REP: 71,
  TS: 12,
};

const ID = /\b[A-Z]{2,4}-\d{3}\b/g;
/** "PB-031 to PB-036" names two lines and hides four. */
const RANGE = /\b([A-Z]{2,4})-\d{3}\s*(?:to|through|–|\.\.)\s*(?:\1-)?\d{3}\b/g;

/** String literals of a test file: test names, and the tables that names are made from. Comments and code do not count. */
function textsOf(path: string): string[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(projectFile(path), "utf8"),
    ts.ScriptTarget.Latest,
  );
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

const texts = pathsBelow([...PRODUCT_FOLDERS, "test"])
  .filter((path) => path.endsWith(".test.ts") && !path.startsWith("test/architecture/requirements"))
  .flatMap(textsOf);
const named = new Set(texts.flatMap((text) => text.match(ID) ?? []));

test.each(Object.entries(FINISHED))(
  "every requirement of %s, %i of them, is named by a test",
  (area, count) => {
    const ids = Array.from(
      { length: count },
      (_, i) => `${area}-${String(i + 1).padStart(3, "0")}`,
    );
    const unnamed = ids.filter((id) => !named.has(id));
    expect(unnamed).toEqual([]);
  },
);

test("no test names a range of requirements of a finished area", () => {
  const ranges = texts.flatMap((text) =>
    [...text.matchAll(RANGE)].map(([range, area]) => ({ range, area })),
  );
  expect(ranges.filter(({ area = "" }) => area in FINISHED).map(({ range }) => range)).toEqual([]);
});

const NAMES = pathsBelow([...PRODUCT_FOLDERS, "test"])
  .filter((path) => path.endsWith(".test.ts"))
  .flatMap(namesOf);

/** Names of tests and groups, as written in the source. */
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

test("the name of a test has at most 100 characters", () => {
  expect(NAMES.length).toBeGreaterThan(1_500);
  expect(NAMES.filter((name) => name.length > 100)).toEqual([]);
});
