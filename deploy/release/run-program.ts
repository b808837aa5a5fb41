import { spawnSync } from "node:child_process";
import { projectFile } from "../../schemas/host/project-root.ts";

/** A step of a release that failed, in a sentence for whoever released. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}

const OUTPUT_BYTES_MAX = 256 * 1_024 * 1_024;

/** Runs a program in the checkout, or in `cwd`, and returns what it printed. Its errors go to the terminal. @throws {ReleaseError} */
export function outputOf(
  program: string,
  args: readonly string[],
  { cwd = projectFile() }: { readonly cwd?: string } = {},
): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (error !== undefined) throw new ReleaseError(`${program} could not be run: ${error.message}`);
  if (status !== 0)
    throw new ReleaseError(`${program} ${args.join(" ")} ended with code ${status ?? "?"}`);
  return stdout;
}

/** Whether there is such a program. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}
