import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of package.json. Compiled code lives one level deeper (`.build/`) than its sources, so files that are not
 * compiled (SQL, scripts for the browser) are found from here.
 */
export const projectRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Absolute path of a file of this repository, named from its root. */
export function projectFile(...parts: string[]): string {
  return join(projectRoot, ...parts);
}

function findRoot(start: string): string {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  throw new Error(`no package.json above ${start}: the installation is incomplete`);
}
