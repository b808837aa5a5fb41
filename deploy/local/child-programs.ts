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
export function programFile(name: "leash" | "clickhouse-engine" | "clickhouse-thread"): string {
  const file = projectFile(".build", "deploy", "local", `${name}.js`);
  if (!existsSync(file)) {
    throw new LaunchError(`${file} is missing. Run \`npm run build\` first.`);
  }
  return file;
}

/** Arguments of the engine process. Passwords are in files, because every user of the machine can see arguments. */
export const ClickhouseEngineOrder = z.object({
  library: z.string(),
  configFile: z.string(),
  host: z.string(),
  port: z.int(),
  /** Who may log in over HTTP; the first asks the engine whether it runs, and to end. */
  logins: z.array(z.object({ user: z.string(), passwordFile: z.string() })).nonempty(),
  /** The folders in which the engine works. It can read and write no other data of this machine. */
  folders: z.array(z.string()),
  /** Ports over which the nodes of a cluster ask each other. */
  clusterPorts: z.array(z.int()),
});
export type ClickhouseEngineOrder = z.infer<typeof ClickhouseEngineOrder>;

/** A line of the engine process on standard output. */
export const ENGINE_LINES = {
  ready: "ready",
  /** Followed by the reason. */
  unconfined: "not confined: ",
  deaf: "nothing listens on the port any more",
} as const;
