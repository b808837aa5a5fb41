/** `npm run settings:table`: writes the table of settings in deploy/README.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { withSettingsTable } from "./settings-table.ts";

const readme = projectFile("deploy", "README.md");
writeFileSync(readme, withSettingsTable(readFileSync(readme, "utf8")));
