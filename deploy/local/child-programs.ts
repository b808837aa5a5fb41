import { existsSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { LaunchError } from "./report.ts";

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

const Signal = z.enum(["SIGTERM", "SIGINT", "SIGQUIT", "SIGKILL"]);

/** The launcher's order to a leash: which server to run, as which user, and how to end it. */
export const LeashOrder = z.object({
  command: z.string(),
  args: z.array(z.string()),
  account: z.object({ uid: z.int(), gid: z.int() }).optional(),
  /** Where the server's own process is recorded, for a next start that finds it without its leash. */
  recordFile: z.string(),
  stopSignal: Signal,
  /** Time between the two signals. */
  deadlineMs: z.int().positive(),
  forceSignal: Signal,
});
export type LeashOrder = z.infer<typeof LeashOrder>;

/** The launcher's order to the engine process. The password comes in a file, because every user can see arguments. */
export const ClickhouseEngineOrder = z.object({
  library: z.string(),
  configFile: z.string(),
  /** `http://host:port` */
  address: z.string(),
  user: z.string(),
  passwordFile: z.string(),
});
export type ClickhouseEngineOrder = z.infer<typeof ClickhouseEngineOrder>;
