import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HOW_TO =
  "The browser tests need Chromium: `apt-get install chromium`, or name one with CHROMIUM_PATH.";

/**
 * The browser of CHROMIUM_PATH, else the first one in PATH. Undefined, with a line that says how to get one, when there is none;
 * an automated run must have one.
 *
 * @throws {Error} when CI is set and there is none, and when CHROMIUM_PATH names none.
 */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env["CHROMIUM_PATH"] ?? "";
  if (named !== "") {
    if (isProgram(named)) return named;
    throw new Error(`CHROMIUM_PATH: ${named} is no program that can be run`);
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const name of NAMES) {
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
    // Not there, or not to be run: both are no browser.
    return false;
  }
}
