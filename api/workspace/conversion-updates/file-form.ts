import { formatOfName } from "../imports/file/file-rows.ts";
import type { FileFormat } from "../imports/file/source-file.ts";

const DELIMITERS = [",", ";", "\t"];
/** The header of a file ends within so many bytes, or is refused by its reader. */
const HEADER_BYTES_MAX = 64 * 1024;
const LINE_FEED = 0x0a;

/** A file whose form is known by its beginning. */
export type FormedFile = {
  readonly format: FileFormat;
  readonly delimiter: string;
  readonly bytes: () => AsyncIterable<Uint8Array>;
};

/** Finds out how a file is written. Its pieces can be read once. */
export async function formOf(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FormedFile> {
  const iterator = pieces[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (beginning.byteLength < HEADER_BYTES_MAX && !beginning.includes(LINE_FEED)) {
    const step = await iterator.next();
    if (step.done === true) break;
    beginning = Buffer.concat([beginning, step.value]);
  }
  const text = beginning
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  return {
    format: formatOfName(name) ?? (/^[[{]/.test(text) ? "json" : "csv"),
    delimiter: delimiterIn(text),
    bytes: async function* bytes() {
      yield beginning;
      for (;;) {
        const step = await iterator.next();
        if (step.done === true) return;
        yield step.value;
      }
    },
  };
}

/** The delimiter that the header has most often outside of quotes. */
function delimiterIn(text: string): string {
  const [line = ""] = text.split(/\r\n|\n|\r/, 1);
  const plain = line.replaceAll(/"[^"]*"/g, "");
  const counted = DELIMITERS.map((one) => [one, plain.split(one).length] as const);
  return counted.toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? ",";
}
