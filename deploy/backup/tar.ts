import { type ChildProcess, spawn } from "node:child_process";
import { createReadStream, createWriteStream, readdirSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { commandOutput, lastLinesOf } from "../local/command-output.ts";
import { LaunchError } from "../local/report.ts";

const PRIVATE_FILE = 0o600;
const ERROR_CHARS_MAX = 4_096;
const UNPACK_MS_MAX = 12 * 3_600_000;

/** Writes everything in the folders into a new compressed archive, readable only by its owner. @throws {LaunchError} */
export async function packFiles(file: string, folders: readonly string[]): Promise<void> {
  const args = folders.flatMap((folder) => ["-C", folder, ...readdirSync(folder)]);
  const tar = spawn("tar", ["-cf", "-", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = codeOf(tar);
  let said = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, ERROR_CHARS_MAX);
  });
  const target = createWriteStream(file, { mode: PRIVATE_FILE, flags: "wx", flush: true });
  await pipeline(tar.stdout, createGzip({ level: 1 }), target);
  const code = await ended;
  if (code !== 0) throw new LaunchError(`The archive was not written: ${lastLinesOf(said)}`);
}

/** @throws {LaunchError} for an archive that is cut off or damaged. */
export async function unpackFiles(file: string, folder: string): Promise<void> {
  const tar = spawn("tar", ["-xf", "-", "--no-same-owner", "-C", folder], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = codeOf(tar);
  let said = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, ERROR_CHARS_MAX);
  });
  try {
    await pipeline(createReadStream(file), createGunzip(), tar.stdin);
  } catch (error) {
    tar.kill("SIGKILL");
    await ended;
    const fault = error instanceof Error ? error.message : String(error);
    throw new LaunchError(`The archive cannot be read: ${fault}. ${lastLinesOf(said)}`, {
      cause: error,
    });
  }
  const code = await ended;
  if (code !== 0) throw new LaunchError(`The archive is damaged: ${lastLinesOf(said)}`);
}

/** Unpacks the copy of Postgres, whose archive is not compressed, and gives it to an account. @throws {LaunchError} */
export async function unpackCluster(
  file: string,
  folder: string,
  account: { readonly uid: number; readonly gid: number } | undefined,
): Promise<void> {
  await run("tar", ["-xf", file, "--no-same-owner", "-C", folder]);
  if (account !== undefined) await run("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
}

/** The exit code; null after a signal. Rejects if the program could not be started. */
function codeOf(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve).once("error", reject);
  });
  // Awaited only after its output has ended, which fails first.
  ended.catch(() => undefined);
  return ended;
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await commandOutput(command, args, { deadlineMs: UNPACK_MS_MAX });
  if (code !== 0) throw new LaunchError(`${command} failed: ${lastLinesOf(stderr)}`);
}
