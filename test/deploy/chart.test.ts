import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { allCommands } from "../../api/command-line/command-files.ts";
import { PROGRAM_ROLES } from "../../schemas/host/program-roles.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { SETTINGS, type SettingDefinition } from "../../schemas/host/setting-definitions.ts";
import { withValuesTable } from "./chart/values-table.ts";

const commands = await allCommands();

const CHART = projectFile("deploy", "helm", "tracker");
const read = (...path: string[]): string => readFileSync(join(CHART, ...path), "utf8");
const templates = readdirSync(join(CHART, "templates")).map((name) => read("templates", name));
const examples = readdirSync(join(CHART, "examples"));
const Values = z.record(z.string(), z.unknown());
const settings = new Map<string, SettingDefinition>(Object.entries(SETTINGS));

describe("the chart", () => {
  test("its README has the table of values.yaml: else `npm run chart:table`", () => {
    expect(read("README.md")).toBe(withValuesTable(read("README.md"), read("values.yaml")));
  });

  test("a value without a meaning is refused", () => {
    const page = "<!-- values: x -->\n<!-- end of values -->";
    expect(() => withValuesTable(page, "a:\n  # no dashes\n  b: 1\n")).toThrow("a.b");
    expect(withValuesTable(page, "# -- One.\na: [1]\n")).toContain("| `a` | `[1]` | One. |");
  });

  test("every variable that a template sets is a setting, and a secret comes as a file", () => {
    const set = templates.flatMap((text) => [...text.matchAll(/"([A-Z][A-Z0-9_]{3,})"/g)]);
    const names = new Set(set.map(([, name = ""]) => name));
    expect(names.size).toBeGreaterThan(15);
    const known = [...settings].map(([name, { isSecret }]) => (isSecret ? `${name}_FILE` : name));
    expect(known).toEqual(expect.arrayContaining([...names]));
  });

  test("the jobs run commands that exist", () => {
    const args = templates.flatMap((text) => [...text.matchAll(/args: \[([a-z, ]+)/g)]);
    const words = args.map(([, list = ""]) => list.split(", ").filter((word) => word !== ""));
    const names = [...commands, ...PROGRAM_ROLES].map(({ name }) => name);
    expect(words.map((some) => some.join(" ")).toSorted((a, b) => a.localeCompare(b))).toEqual(
      expect.arrayContaining(["journal ship", "migrate"]),
    );
    for (const some of words) expect(names).toContain(some.join(" "));
  });

  test("every variable of an example is a setting", () => {
    const Env = z.object({ env: z.record(z.string(), z.unknown()).default({}) });
    const names = examples.flatMap((file) => {
      const values = Values.parse(parse(read("examples", file)));
      const parts = [values, ...Object.values(values)].map((part) => Env.safeParse(part).data?.env);
      return parts.flatMap((env) => Object.keys(env ?? {}));
    });
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(settings.has(name), name).toBe(true);
  });

  test("the alerts are those of deploy/observe", () => {
    expect(existsSync(join(CHART, "observe", "rules"))).toBe(true);
    const rules = readdirSync(join(CHART, "observe", "rules")).filter((file) =>
      file.endsWith(".yaml"),
    );
    expect(rules.length).toBeGreaterThan(2);
  });

  test("there are eight examples, and each says what it is for", () => {
    expect(examples).toHaveLength(8);
    for (const file of examples) expect(read("examples", file)).toMatch(/^# [A-Z].*\.\n/);
  });
});

const missing = ["go", "etcd"].filter(
  (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0,
);
const isAsked = process.env["CHECK_CHART"] === "1";

test.skipIf(!isAsked || missing.length > 0)(
  "helm, API schemas and a kube-apiserver accept it (CHECK_CHART=1; needs go and etcd)",
  { timeout: 60 * 60_000 },
  () => {
    const checked = spawnSync(projectFile("deploy", "helm", "check.sh"), {
      encoding: "utf8",
      timeout: 59 * 60_000,
    });
    expect(checked.stderr + checked.stdout).toMatch(/the chart passes/);
    expect(checked.status).toBe(0);
  },
);
