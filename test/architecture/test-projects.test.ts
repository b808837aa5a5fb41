import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile, projectRoot } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

const Listed = z.array(z.object({ file: z.string(), projectName: z.string() }));

test.for([
  { size: "in CI", isFull: "" },
  { size: "at full size", isFull: "1" },
])("exactly one project runs every test file, $size", ({ isFull }) => {
  const program = projectFile("node_modules", "vitest", "vitest.mjs");
  const { stdout } = spawnSync(
    process.execPath,
    [program, "list", "--filesOnly", "--json", "--config", "test/vitest.config.ts"],
    { cwd: projectRoot, encoding: "utf8", env: { ...process.env, PROMISES_FULL: isFull } },
  );
  const listed = Listed.parse(JSON.parse(stdout)).map(({ file }) => file);
  const present = pathsBelow([...PRODUCT_FOLDERS, "test"])
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => projectFile(path));
  expect(listed.toSorted()).toEqual(present.toSorted());
});
