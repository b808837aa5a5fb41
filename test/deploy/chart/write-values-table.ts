/** `npm run chart:table`: writes the table of values in deploy/helm/tracker/README.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { withValuesTable } from "./values-table.ts";

const chart = (name: string): string => projectFile("deploy", "helm", "tracker", name);
const values = readFileSync(chart("values.yaml"), "utf8");
const readme = readFileSync(chart("README.md"), "utf8");
writeFileSync(chart("README.md"), withValuesTable(readme, values));
