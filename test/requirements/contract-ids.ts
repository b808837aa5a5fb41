import { readFileSync } from "node:fs";
import { projectFile } from "../../schemas/host/project-root.ts";
import { pathsBelow } from "../architecture/source-files.ts";

/** The first cell of a row of a table. */
const DEFINED = /^\| ([A-Z]+-\d{3}|[GTP]\d{1,3}) \|/gm;

/** The IDs that schemas/contract defines: requirements, decisions, rulings and promises. */
export function contractIds(): string[] {
  return pathsBelow(["schemas/contract"])
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) => [...readFileSync(projectFile(path), "utf8").matchAll(DEFINED)])
    .map(([, id = ""]) => id);
}
