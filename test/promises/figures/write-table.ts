import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { withTable } from "./figure-table.ts";
import { readResults } from "./result-file.ts";

const README = projectFile("test", "promises", "README.md");

// `npm run promises:figures`
writeFileSync(README, withTable(readFileSync(README, "utf8"), readResults()));
