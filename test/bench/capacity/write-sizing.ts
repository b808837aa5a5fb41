/** `npm run sizing:table`: writes the tables of deploy/pages/sizing.md and of the README of the bench from figures/runs.jsonl. */
import { readFileSync, writeFileSync } from "node:fs";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { readRuns, thisMachine } from "../figures/run-file.ts";
import { withPrintedTables } from "./printed-tables.ts";
import { withSizingTables } from "./sizing-page.ts";

const runs = readRuns();
const here = thisMachine();
for (const [path, written] of [
  [projectFile("deploy", "pages", "sizing.md"), withSizingTables],
  [projectFile("test", "bench", "README.md"), withPrintedTables],
] as const)
  writeFileSync(path, written(readFileSync(path, "utf8"), runs, here));
