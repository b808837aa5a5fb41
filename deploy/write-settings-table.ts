/** `npm run settings:table`: writes the table of settings in deploy/pages/settings.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../schemas/host/project-root.ts";
import { withSettingsTable } from "./settings-table.ts";

const page = projectFile("deploy", "pages", "settings.md");
writeFileSync(page, withSettingsTable(readFileSync(page, "utf8")));
