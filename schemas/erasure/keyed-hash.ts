import { createHash } from "node:crypto";

/** Of the installation with this secret, and of this use alone. As `erasure_key` of Postgres makes it. */
export function erasureKey(secret: string): string {
  return sha256(`erasure ${secret}`);
}

/** What is kept of an erased e-mail or address. As `keyed_hash` of Postgres makes it. */
export function keyedHash(key: string, value: string): string {
  return sha256(`${key} ${value}`);
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
