import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "./source-files.ts";

/** One planted fault a row. The first three need type information: without it, the linter would not find them. */
const FAULTS: readonly (readonly [rule: string, path: string, source: string])[] = [
  [
    "no-floating-promises",
    "api/lost-write.ts",
    `import type { Pool } from "pg";\nexport function save(pool: Pool): void {\n  pool.query("select 1");\n}\n`,
  ],
  [
    "no-misused-promises",
    "api/lost-loop.ts",
    `export function all(list: (() => Promise<void>)[]): void {\n  list.forEach(async (step) => {\n    await step();\n  });\n}\n`,
  ],
  [
    "switch-exhaustiveness-check",
    "api/half-switch.ts",
    `export function name(kind: "a" | "b"): string {\n  switch (kind) {\n    case "a":\n      return "first";\n  }\n  return "";\n}\n`,
  ],
  [
    "no-process-env",
    "api/setting.ts",
    `export const port: string | undefined = process.env["PORT"];\n`,
  ],
  [
    "no-restricted-properties",
    "schemas/ids/clock-reader.ts",
    `export const mint = (): number => Date.now();\n`,
  ],
  [
    "no-restricted-properties",
    "ingress/routes/deep-body.ts",
    `export const read = (text: string): unknown => JSON.parse(text);\n`,
  ],
  [
    "no-empty",
    "api/swallow.ts",
    `try {\n  JSON.parse("");\n} catch {}\nexport const done = true;\n`,
  ],
];

const SPREAD_LITERAL = /^\s*\.\.\.\{/m;

let planted: string;
let report: string;

beforeAll(() => {
  planted = mkdtempSync(join(tmpdir(), "planted-faults-"));
  for (const file of ["package.json", "tsconfig.json", ".oxlintrc.json"]) {
    copyFileSync(projectFile(file), join(planted, file));
  }
  symlinkSync(projectFile("node_modules"), join(planted, "node_modules"));
  const settings = ["", "api/settings.ts", `export const port = process.env["PORT"];\n`] as const;
  for (const [, path, source] of [...FAULTS, settings]) {
    mkdirSync(dirname(join(planted, path)), { recursive: true });
    writeFileSync(join(planted, path), source);
  }
  const program = projectFile("node_modules", "oxlint", "bin", "oxlint");
  report = spawnSync(process.execPath, [program, "--type-aware", "--format", "unix"], {
    cwd: planted,
    encoding: "utf8",
  }).stdout;
});

afterAll(() => {
  rmSync(planted, { recursive: true });
});

test.each(FAULTS)("the linter finds %s in %s", (rule, path) => {
  const faults = report.split("\n").filter((line) => line.includes(path));
  expect(faults.join("\n")).toContain(`(${rule})`);
});

test("settings.ts may read the environment", () => {
  expect(report).not.toContain("api/settings.ts");
});

// oxlint's own rule would also refuse `...["--port", port]`, which keeps an option beside its value.
test("no object literal is spread into another (#13)", () => {
  const sources = pathsBelow([...PRODUCT_FOLDERS, "test"]).filter((path) => path.endsWith(".ts"));
  const spread = sources.filter((path) =>
    SPREAD_LITERAL.test(readFileSync(projectFile(path), "utf8")),
  );
  expect(spread).toEqual([]);
});
