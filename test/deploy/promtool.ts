import { spawnSync } from "node:child_process";

/** Prometheus's own checker, of Debian's package `prometheus`. */
export const hasPromtool: boolean = spawnSync("promtool", ["--version"]).error === undefined;

/** Stands in the name of a test that needs it. */
export const WITHOUT_PROMTOOL: string = hasPromtool
  ? ""
  : " (skipped: promtool is missing, see apt-get install prometheus)";

/** Returns its exit code with all that it printed. */
export function promtool(...args: string[]): { readonly status: number; readonly text: string } {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  return { status: status ?? -1, text: stdout + stderr };
}
