import { existsSync } from "node:fs";
import { projectFile } from "../../schemas/host/project-root.ts";
import { LaunchError } from "./launch-error.ts";

/**
 * The compiled file of a program of this folder. Children are run by a bare Node, so they are always the compiled ones,
 * also when the caller runs from the sources (tests).
 *
 * @throws {LaunchError} when nothing was compiled yet.
 */
export function programFile(name: "leash" | "clickhouse-engine"): string {
  const file = projectFile(".build", "deploy", "local", `${name}.js`);
  if (!existsSync(file)) {
    throw new LaunchError(`${file} is missing. Run \`npm run build\` first.`);
  }
  return file;
}
