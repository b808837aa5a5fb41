import { type ChildProcess, spawn } from "node:child_process";
import { createReadStream, createWriteStream, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { commandOutput, lastLinesOf } from "../local/command-output.ts";
import { LaunchError } from "../local/report.ts";
import {
  type ArchiveSeal,
  findKey,
  isSealHeader,
  openPieces,
  SEAL_HEADER_BYTES,
  sealPieces,
} from "./archive-seal.ts";

const PRIVATE_FILE = 0o600;
const ERROR_CHARS_MAX = 4_096;
const UNPACK_MS_MAX = 12 * 3_600_000;

/**
 * Writes everything in the folders into a new compressed archive, readable only by its owner, and sealed if there is a seal.
 * @throws {LaunchError}
 */
export async function packFiles(
  file: string,
  folders: readonly string[],
  seal?: ArchiveSeal,
): Promise<void> {
  const args = folders.flatMap((folder) => ["-C", folder, ...readdirSync(folder)]);
  const tar = spawn("tar", ["-cf", "-", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = codeOf(tar);
  let said = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, ERROR_CHARS_MAX);
  });
  const target = createWriteStream(file, { mode: PRIVATE_FILE, flags: "wx", flush: true });
  const gzip = createGzip({ level: 1 });
  if (seal === undefined) {
    await pipeline(tar.stdout, gzip, target);
  } else {
    target.write(seal.header);
    await pipeline(tar.stdout, gzip, sealPieces(seal.key), target);
  }
  const code = await ended;
  if (code !== 0) throw new LaunchError(`The archive was not written: ${lastLinesOf(said)}`);
}

/**
 * Unpacks an archive, sealed or not. Writes nothing if the passphrase is missing or wrong, or given for an archive that is not sealed.
 * @throws {LaunchError} then, and for an archive that is cut off or damaged.
 */
export async function unpackFiles(
  file: string,
  folder: string,
  passphrase?: string,
): Promise<void> {
  const key = await keyOf(file, passphrase);
  const tar = spawn("tar", ["-xf", "-", "--no-same-owner", "-C", folder], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = codeOf(tar);
  let said = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, ERROR_CHARS_MAX);
  });
  try {
    const feed = feeding(tar.stdin);
    if (key === undefined) await pipeline(createReadStream(file), createGunzip(), feed);
    else await pipeline(sealedPart(file), openPieces(key), createGunzip(), feed);
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

/** The key of a sealed archive; undefined for one that is not sealed. @throws {LaunchError} if the passphrase does not suit the archive. */
async function keyOf(file: string, passphrase: string | undefined): Promise<Buffer | undefined> {
  const header = await beginningOf(file);
  if (isSealHeader(header)) {
    if (passphrase !== undefined) return await findKey(header, passphrase);
    throw new LaunchError(
      "The archive is sealed, and no passphrase is given. Name the file that holds it with BACKUP_PASSPHRASE_FILE. Nothing was restored.",
    );
  }
  if (passphrase === undefined) return undefined;
  throw new LaunchError(
    "A passphrase is given, but the archive is not sealed: anybody may have made it. If you trust it, leave BACKUP_PASSPHRASE " +
      "and BACKUP_PASSPHRASE_FILE unset. Nothing was restored.",
  );
}

async function beginningOf(file: string): Promise<Buffer> {
  const archive = await open(file);
  try {
    const bytes = Buffer.alloc(SEAL_HEADER_BYTES);
    const { bytesRead } = await archive.read(bytes, 0, SEAL_HEADER_BYTES, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await archive.close();
  }
}

/**
 * Writes a stream to the standard input of a program. tar ends at the mark that ends an archive, perhaps before the end of the stream: the
 * rest is read, too, so that every piece of it is checked. The exit code says whether the program wanted more.
 */
function feeding(input: Writable): (source: AsyncIterable<Buffer>) => Promise<void> {
  const closed = new Promise<void>((resolve) => {
    input.once("close", resolve).on("error", () => undefined);
  });
  return async (source) => {
    for await (const chunk of source) {
      if (!input.writable || input.write(chunk)) continue;
      const drained = new Promise<void>((resolve) => input.once("drain", resolve));
      await Promise.race([drained, closed]);
    }
    input.end();
  };
}

function sealedPart(file: string) {
  return createReadStream(file, { start: SEAL_HEADER_BYTES });
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
