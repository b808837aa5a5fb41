import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { purposeOf } from "../../../schemas/secrets/sealed-columns.ts";
import { SecretKeyError, type SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import { type ImportRun, RunOverError } from "./import-runs.ts";

/** What is read of a part at a time, so that the parser never keeps other work waiting for long. */
const PIECE_BYTES = 32 * 1024;

/** A part of a file as it is stored. */
export type StoredPart = { readonly bytes: Buffer; readonly isSealed: boolean };

/** Sealed, because partners' files have payment details. Without a key it stays as it is: no details are stored then. */
export function storedPart(
  keys: SecretKeys,
  importId: number,
  { number, bytes }: { readonly number: number; readonly bytes: Buffer },
): StoredPart {
  if (keys.sealingId === undefined) return { bytes, isSealed: false };
  return {
    bytes: keys.sealBytes(purposeOf("import_part", importId, number), bytes),
    isSealed: true,
  };
}

/**
 * The content of the file of an import, from its start.
 * @throws {RunOverError} when its parts are gone, because it has ended. @throws {SecretKeyError} when no key opens them.
 */
export async function* storedFile(
  db: Queryable,
  keys: SecretKeys,
  { id, parts }: Pick<ImportRun, "id" | "parts">,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < parts; number += 1) {
    const { rows } = await db.query<{ bytes: Buffer; is_sealed: boolean }>({
      name: "find-import-part",
      text: "select bytes, is_sealed from import_part where import_id = $1 and number = $2",
      values: [id, number],
    });
    const [part] = rows;
    if (part === undefined) throw new RunOverError();
    const purpose = purposeOf("import_part", id, number);
    const bytes = part.is_sealed ? keys.openBytes(purpose, part.bytes) : part.bytes;
    if (bytes === undefined) throw new SecretKeyError(`no key of SECRETS_KEY opens ${purpose}`);
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
