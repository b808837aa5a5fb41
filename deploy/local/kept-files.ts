import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const PRIVATE_UMASK = 0o077;
const PRIVATE_FOLDER = 0o700;
/** If the launcher is root, Postgres runs as another user, which must be able to enter this folder. Only the owner can list it. */
const PASSABLE_FOLDER = 0o711;
const GROUP_AND_OTHERS = 0o077;

/**
 * Makes new files of this process and its children readable only by the owner: clicks, conversions, passwords and logs. Creates DATA_DIR if
 * it is missing, and corrects the rights of older files on its first level, which also protects the files below them.
 */
export function keepFilesPrivate(dataDir: string): void {
  process.umask(PRIVATE_UMASK);
  mkdirSync(dataDir, { recursive: true });
  const uid = process.getuid?.();
  chmodSync(dataDir, uid === 0 ? PASSABLE_FOLDER : PRIVATE_FOLDER);
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    const entry = lstatSync(path);
    const isOwn = uid === undefined || entry.uid === uid;
    const isPlain = entry.isFile() || entry.isDirectory();
    if (isOwn && isPlain && (entry.mode & GROUP_AND_OTHERS) !== 0)
      chmodSync(path, entry.mode & ~GROUP_AND_OTHERS & 0o777);
  }
}

/** The password in `file`, generated at the first call: 24 random bytes in characters that need no escaping in a URL or in SQL. */
export function storedSecret(file: string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, randomBytes(24).toString("base64url"), { mode: 0o600 });
    renameSync(draft, file);
  }
  return readFileSync(file, "utf8").trim();
}

/** The value of a JSON text; `undefined` if it is not JSON, such as a file that a full disk cut off. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
