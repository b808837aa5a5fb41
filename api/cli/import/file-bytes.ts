import { createReadStream } from "node:fs";
import { CommandError } from "../command-error.ts";

/** The content of a file in chunks. @throws {CommandError} for a file that cannot be read. */
export async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) yield bytesOf(chunk);
  } catch (error) {
    throw new CommandError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      { cause: error },
    );
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new Error("expected a stream of bytes");
}
