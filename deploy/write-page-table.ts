/** `npm run settings:table`, `metrics:table`, `checks:table`: writes the table of that name in its page. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { withChecksTable } from "./checks-table.ts";
import { withMetricsTable } from "./metrics-table.ts";
import { withSettingsTable } from "./settings-table.ts";

const TABLES: Readonly<Record<string, readonly [string, (page: string) => string]>> = {
  settings: ["settings.md", withSettingsTable],
  metrics: ["metrics.md", withMetricsTable],
  checks: ["servers.md", withChecksTable],
};

const [file, withTable] = TABLES[process.argv[2] ?? ""] ?? [];
if (file === undefined || withTable === undefined) throw new Error("Name one of the tables.");
const page = projectFile("deploy", "pages", file);
writeFileSync(page, withTable(readFileSync(page, "utf8")));
