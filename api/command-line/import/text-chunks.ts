import { createReadStream } from "node:fs";
import { CommandError } from "../command-error.ts";

/** The text of a file in chunks, without its byte order mark. @throws {CommandError} for a file that is missing or not UTF-8. */
export async function* textChunks(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of createReadStream(file)) {
      yield decoder.decode(bytesOf(bytes), { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    throw new CommandError(faultOf(file, error), { cause: error });
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new Error("expected a stream of bytes");
}

function faultOf(file: string, error: unknown): string {
  if (error instanceof TypeError) {
    return `${file} is not UTF-8: save it as UTF-8 (a spreadsheet calls it "CSV UTF-8") and import it again.`;
  }
  return `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
}
