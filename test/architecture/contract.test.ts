import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { contractIds } from "../requirements/contract-ids.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

const CITED = /(?<![\w/.-])(?:[A-Z]{2,4}-\d{3}|G\d{2,3}|T\d{2}|P\d{1,2})(?![\w:])/g;
/** References to documents that are not in the repository. */
const ELSEWHERE =
  /\b(?:[Ss]ection \d|design \d|requirements\.md|interface\.md|operations\.md|network\.md)|\(\d{1,2}\.\d{1,2}(?:, [GPT]\d+\)|\)\.(?: \*\/)?$)/gm;
const OTHER_NAMES = new Set(["SHA-256", "SHA-512"]);

const defined = contractIds();
const texts = ["README.md", ...pathsBelow([...PRODUCT_FOLDERS, "test"])]
  .filter((path) => /\.(ts|md|sql)$/.test(path) && !path.startsWith("test/architecture/contract"))
  .map((path) => ({ path, text: readFileSync(projectFile(path), "utf8") }));

/** Every match that `isWanted` accepts, as `<file>: <match>`. */
function found(pattern: RegExp, isWanted: (match: string, path: string) => boolean): string[] {
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)]
      .filter(([match]) => isWanted(match, path))
      .map(([match]) => `${path}: ${match}`),
  );
}

test("every ID that code, tests and documents cite is defined in the contract, once", () => {
  const known = new Set(defined);
  expect(defined.length - known.size).toBe(0);
  expect(known.size).toBeGreaterThan(1_100);
  expect(found(CITED, (id) => !known.has(id) && !OTHER_NAMES.has(id))).toEqual([]);
});

test("no text refers to a numbered section of a document that is not here", () => {
  // Migrations are never edited.
  expect(found(ELSEWHERE, (_, path) => !path.endsWith(".sql"))).toEqual([]);
});
