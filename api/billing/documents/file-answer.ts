import { Readable } from "node:stream";
import type { OperationContext, OperationResult } from "../../operation/operation.ts";
import { type KeptFile, readFileBytes } from "./kept-files.ts";

/** The bytes of a kept file. A browser saves them, so that nothing in a document runs on the address of the api. */
export async function fileAnswer(
  { db, secretKeys }: Pick<OperationContext, "db" | "secretKeys">,
  { id, name, media_type }: KeptFile,
): Promise<OperationResult> {
  const bytes = await readFileBytes(db, secretKeys, id);
  return {
    stream: Readable.from([bytes], { objectMode: false }),
    contentType: media_type,
    headers: { "content-disposition": `attachment; filename="${fileName(name)}"` },
  };
}

/** A name that is good in a header and on every disk. */
export function fileName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, "_");
}
