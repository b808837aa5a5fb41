import { FileFault } from "./file-fault.ts";
import type { ImportFile } from "./source-file.ts";

/** The text of a file in chunks, without its byte order mark. @throws {FileFault} for a file that is not UTF-8. */
export async function* textChunks({
  name,
  bytes,
}: Pick<ImportFile, "name" | "bytes">): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw new FileFault(
        `${name} is not UTF-8: save it as UTF-8 (a spreadsheet calls it "CSV UTF-8") and import it again.`,
        error,
      );
    }
  };
  for await (const chunk of bytes()) yield decode(chunk);
  yield decode();
}
