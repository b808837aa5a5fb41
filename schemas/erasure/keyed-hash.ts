import { createHash } from "node:crypto";

/** The key of keyed hashes, derived from the secret for this use only. The SQL function `erasure_key` does the same. */
export function erasureKey(secret: string): string {
  return sha256(`erasure ${secret}`);
}

/** The only stored form of an erased e-mail or address. The SQL function `keyed_hash` does the same. */
export function keyedHash(key: string, value: string): string {
  return sha256(`${key} ${value}`);
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
