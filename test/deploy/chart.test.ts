import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { allCommands } from "../../api/cli/command-files.ts";
import { PROGRAM_ROLES } from "../../schemas/host/program-roles.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { SETTINGS, type SettingDefinition } from "../../schemas/host/setting-definitions.ts";
import { withValuesTable } from "./chart/values-table.ts";

const commands = await allCommands();

const CHART = projectFile("deploy", "helm", "tracker");
const read = (...path: string[]): string => readFileSync(join(CHART, ...path), "utf8");
const templates = readdirSync(join(CHART, "templates"), { recursive: true, encoding: "utf8" })
  .filter((name) => /[.](yaml|tpl)$/.test(name))
  .map((name) => read("templates", name));
const examples = readdirSync(join(CHART, "examples"));
const Values = z.record(z.string(), z.unknown());
const Altinity = z.looseObject({
  spec: z.looseObject({
    configuration: z.looseObject({ users: z.record(z.string(), z.unknown()) }),
  }),
});
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
    // An address without a password may be a plain value.
    known.push("OTEL_EXPORTER_OTLP_ENDPOINT");
    expect(known).toEqual(expect.arrayContaining([...names]));
  });

  test("the jobs run commands that exist", () => {
    const args = templates.flatMap((text) => [...text.matchAll(/args: \[([a-z, ]+)/g)]);
    const words = args.map(([, list = ""]) => list.split(", ").filter((word) => word !== ""));
    const names = [...commands, ...PROGRAM_ROLES].map(({ name }) => name);
    expect(words.map((some) => some.join(" ")).toSorted((a, b) => a.localeCompare(b))).toEqual(
      expect.arrayContaining(["backup note", "doctor", "journal ship", "migrate"]),
    );
    for (const some of words) expect(names).toContain(some.join(" "));
  });

  test("every variable of an example is a setting", () => {
    const Names = z.record(z.string(), z.unknown()).default({});
    const Env = z.object({ env: Names, secretEnv: Names });
    const names = examples.flatMap((file) => {
      const values = Values.parse(parse(read("examples", file)));
      const parts = [values, ...Object.values(values)].map((part) => Env.safeParse(part).data);
      return parts.flatMap((part) => Object.keys({ ...part?.env, ...part?.secretEnv }));
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

  test("the scripts of backups are shell scripts without a fault of syntax", () => {
    const scripts = readdirSync(join(CHART, "files"));
    expect(scripts).toHaveLength(4);
    for (const script of scripts) {
      const { status, stderr } = spawnSync("sh", ["-n", join(CHART, "files", script)]);
      expect([script, status, String(stderr)]).toEqual([script, 0, ""]);
    }
  });

  test("ClickHouse of the operator has the logins of users.xml, each with the same rights", () => {
    const file = projectFile("deploy", "kubernetes", "servers", "clickhouse-altinity.yaml");
    const { spec } = Altinity.parse(parse(readFileSync(file, "utf8")));
    const users = readFileSync(projectFile("deploy", "servers", "clickhouse", "users.xml"), "utf8");
    for (const login of ["tracker_migrate", "tracker_writer", "tracker_reader"]) {
      const [text = ""] =
        new RegExp(`<${login}>\\s*<password.*?</${login}>`, "s").exec(users) ?? [];
      const grants = [...text.matchAll(/<query>(.*)<.query>/g)].map(([, grant]) => grant);
      expect(grants.length).toBeGreaterThan(0);
      expect(spec.configuration.users[`${login}/grants/query`], login).toEqual(grants);
    }
  });

  test("there are nine examples, and each says what it is for", () => {
    expect(examples).toHaveLength(9);
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
