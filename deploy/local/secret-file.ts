import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** The password kept in `file`, made at the first call. 24 random bytes, in letters that need no escaping in a URL or in SQL. */
export function keptSecret(file: string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, randomBytes(24).toString("base64url"), { mode: 0o600 });
    renameSync(draft, file);
  }
  return readFileSync(file, "utf8").trim();
}
