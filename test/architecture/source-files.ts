import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";

/** The folders of the product. With test/ they are all the folders of the repository. */
export const PRODUCT_FOLDERS = ["ingress", "processors", "api", "schemas", "deploy"] as const;

/** Every file and folder below `folders`, as paths from the root with `/`; a folder ends in `/`. */
export function pathsBelow(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => walk(folder));
}

/** Product code in TypeScript, without the unit tests beside it. */
export function productSources(): string[] {
  return pathsBelow(PRODUCT_FOLDERS).filter(
    (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path),
  );
}

function walk(folder: string): string[] {
  const below = readdirSync(projectFile(folder), { withFileTypes: true });
  return below.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [`${path}/`, ...walk(path)] : [path];
  });
}
