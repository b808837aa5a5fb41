import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { type ImportRun, RunOverError } from "./import-runs.ts";

/** What is read of a part at a time, so that the parser never keeps other work waiting for long. */
const PIECE_BYTES = 32 * 1024;

/** The content of the file of an import, from its start. @throws {RunOverError} when its parts are gone, because it has ended. */
export async function* storedFile(
  db: Queryable,
  { id, parts }: Pick<ImportRun, "id" | "parts">,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < parts; number += 1) {
    const { rows } = await db.query<{ bytes: Buffer }>({
      name: "find-import-part",
      text: "select bytes from import_part where import_id = $1 and number = $2",
      values: [id, number],
    });
    const bytes = rows[0]?.bytes;
    if (bytes === undefined) throw new RunOverError();
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
