import { ApiError } from "../../operation/errors.ts";
import type { OperationContext, ReceivedFile } from "../../operation/operation.ts";
import { hashOfImport, idOfHash } from "./file/import-record.ts";
import { IMPORTED } from "./imported-kinds.ts";
import { storedPart } from "./stored-file.ts";
import {
  type ArrivedFile,
  type AskedImport,
  deleteUpload,
  insertPart,
  insertUpload,
  queueUpload,
} from "./uploads.ts";

export const FILE_BYTES_MAX = 64 * 1024 ** 2;
/** Size of a row of import_part. Only so much of a file is in memory. */
const PART_BYTES = 256 * 1024;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export type Received = {
  readonly id: number;
  /** False if the same file is being imported already. */
  readonly isNew: boolean;
};

/**
 * Stores a file while it arrives, and queues its import once it is stored whole. Leaves nothing behind if it does not arrive. The same file with
 * the same options is queued once; see `queueUpload`.
 * @throws {ApiError} for too many imports, and for a file that is empty or too large.
 */
export async function receiveImport(
  context: OperationContext,
  asked: AskedImport,
  file: ReceivedFile,
): Promise<Received> {
  const { db, log } = context;
  const id = await insertUpload(context, asked);
  try {
    const queued = await queueUpload(db, id, await storeParts(context, { id, asked, file }));
    return { id: queued, isNew: queued === id };
  } catch (error) {
    await deleteUpload(db, id).catch((cause: unknown) => {
      // A later round of a runner deletes it.
      log.warn({ err: cause, importId: id }, "import.upload-not-deleted");
    });
    throw error;
  }
}

async function storeParts(
  { db, secretKeys }: OperationContext,
  {
    id,
    asked,
    file,
  }: { readonly id: number; readonly asked: AskedImport; readonly file: ReceivedFile },
): Promise<ArrivedFile> {
  const hash = hashOfImport({ kind: IMPORTED[asked.kind], isUpdate: asked.update });
  let parts = 0;
  let bytes = 0;
  for await (const part of inParts(file.pieces(), PART_BYTES)) {
    hash.update(parts === 0 ? withoutMark(part) : part);
    const stored = storedPart(secretKeys, id, { number: parts, bytes: part });
    await insertPart(db, id, { number: parts, ...stored });
    parts += 1;
    bytes += part.byteLength;
  }
  if (bytes === 0) throw new ApiError("invalid_request", "send the file as the body");
  return { bytes, parts, recordId: idOfHash(hash) };
}

/** Joins pieces, so that each part but the last has at least `bytesMin`. */
export async function* inParts(
  pieces: AsyncIterable<Uint8Array>,
  bytesMin: number,
): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.byteLength;
    if (bytes < bytesMin) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** The mark says nothing about the content: the command line finds the same file without it. */
function withoutMark(first: Buffer): Buffer {
  const hasMark = first.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return hasMark ? first.subarray(BYTE_ORDER_MARK.length) : first;
}
