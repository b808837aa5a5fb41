import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Chromium without its window: the same pages take a fifth less processor time of the whole test. */
const HEADLESS = "chromium-headless-shell";
const WHOLE = ["chromium", "chromium-browser", "google-chrome"];
const HOW_TO =
  "The browser tests need Chromium: `apt-get install chromium chromium-headless-shell`, or name one with CHROMIUM_PATH.";

/**
 * The browser that CHROMIUM_PATH names, else the first one in PATH. Returns undefined if there is none, and prints how to get one.
 *
 * @throws {Error} if CI is set and there is no browser, or if CHROMIUM_PATH names no executable file.
 */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return findProgram([HEADLESS, ...WHOLE], env);
}

/** Like {@link findChromium}, but a browser that keeps to the settings of a profile, such as to block cookies. */
export function findWholeChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return findProgram(WHOLE, env);
}

function findProgram(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const named = env["CHROMIUM_PATH"] ?? "";
  if (named !== "") {
    if (isProgram(named)) return named;
    throw new Error(`CHROMIUM_PATH: ${named} is not an executable file`);
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isProgram);
    if (found !== undefined) return found;
  }
  if ((env["CI"] ?? "") !== "") throw new Error(HOW_TO);
  process.stderr.write(`Skipped. ${HOW_TO}\n`);
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: not a browser that we can start.
    return false;
  }
}
