/** `npm run metrics:table`: writes the table of metrics in deploy/pages/metrics.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { withMetricsTable } from "./metrics-table.ts";

const page = projectFile("deploy", "pages", "metrics.md");
writeFileSync(page, withMetricsTable(readFileSync(page, "utf8")));
