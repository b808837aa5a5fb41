/**
 * A step of `npm run check`: fails for each import that breaks a rule of .dependency-cruiser.cjs, and writes the import graph, from which
 * `run-touched.ts` computes what a change touches. Reading all sources takes 10 s, so it is done once.
 */

import { projectRoot } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, productSources } from "../architecture/source-files.ts";
import { cruise } from "./cruise.ts";
import { writeImports } from "./import-graph.ts";

const { summary, modules } = cruise(projectRoot, [...PRODUCT_FOLDERS, "test"]);
const faults = summary.violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`);
// With a compiler that it cannot use, dependency-cruiser checks no module, finds no fault and exits with 0.
if (summary.totalCruised < productSources().length)
  faults.push(`dependency-cruiser read only ${summary.totalCruised} modules`);
for (const fault of faults) process.stderr.write(`${fault}\n`);
writeImports(modules);
process.exitCode = faults.length === 0 ? 0 : 1;
