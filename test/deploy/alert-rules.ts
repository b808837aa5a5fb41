import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";

export const OBSERVE = projectFile("deploy", "observe");

const Alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(["page", "ticket", "info"]) }),
  annotations: z.strictObject({
    summary: z.string(),
    description: z.string(),
    runbook_url: z.string(),
  }),
});
type Alert = z.infer<typeof Alert>;

const Recorded = z.strictObject({ record: z.string(), expr: z.string() });
type Recorded = z.infer<typeof Recorded>;

const RuleFile = z.strictObject({
  groups: z.array(
    z.strictObject({ name: z.string(), rules: z.array(z.union([Alert, Recorded])).min(1) }),
  ),
});

const CaseFile = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      alert_rule_test: z.array(
        z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) }),
      ),
    }),
  ),
});

export const ruleFiles: readonly string[] = filesIn(join(OBSERVE, "rules"), ".yaml");
export const caseFiles: readonly string[] = filesIn(join(OBSERVE, "rules", "tests"), ".test.yaml");

const rules = ruleFiles.flatMap((path) =>
  RuleFile.parse(readYaml(path)).groups.flatMap((group) => group.rules),
);
export const alerts: readonly Alert[] = rules.filter((rule) => "alert" in rule);
export const recorded: readonly Recorded[] = rules.filter((rule) => "record" in rule);

/** What each case expects of its alert. */
type Case = { readonly name: string; readonly alert: string; readonly fires: boolean };

export const cases: readonly Case[] = caseFiles.flatMap((path) =>
  CaseFile.parse(readYaml(path)).tests.flatMap(({ name, alert_rule_test: expected }) =>
    expected.map(({ alertname: alert, exp_alerts: firing }) => ({
      name,
      alert,
      fires: firing.length > 0,
    })),
  ),
);

/** The names of our series in an expression, without those that a rule records. */
export function metricsIn(expr: string): string[] {
  return expr.match(/(?<![\w:])tracker_[a-z0-9_]+/g) ?? [];
}

function filesIn(folder: string, suffix: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .toSorted()
    .map((name) => join(folder, name));
}

function readYaml(path: string): unknown {
  return parse(readFileSync(path, "utf8"));
}
