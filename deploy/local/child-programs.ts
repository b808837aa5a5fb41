import { existsSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { LaunchError } from "./report.ts";

/**
 * The compiled file of a program of this folder. Children run in plain Node, so they are always compiled, even if the caller runs from
 * sources (tests).
 *
 * @throws {LaunchError} if it has not been compiled yet.
 */
export function programFile(name: "leash" | "clickhouse-engine"): string {
  const file = projectFile(".build", "deploy", "local", `${name}.js`);
  if (!existsSync(file)) {
    throw new LaunchError(`${file} is missing. Run \`npm run build\` first.`);
  }
  return file;
}

/** Arguments of the engine process. The password is in a file, because every user of the machine can see arguments. */
export const ClickhouseEngineOrder = z.object({
  library: z.string(),
  configFile: z.string(),
  /** `http://host:port` */
  address: z.string(),
  user: z.string(),
  passwordFile: z.string(),
});
export type ClickhouseEngineOrder = z.infer<typeof ClickhouseEngineOrder>;
