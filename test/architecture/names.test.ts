import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { projectRoot } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

/** Names that say nothing about the content, so that anything ends up there. `index` would be a barrel. */
const JUNK_DRAWER =
  /(^|\/)(utils?|helpers?|common|shared|misc|lib|core|types|constants|index)(\.ts|\/)$/;

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
