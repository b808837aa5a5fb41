import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";

/** One request of a web server's log in combined format. */
export type LogLine = {
  /** Line number in the file, from 1. */
  readonly number: number;
  readonly ip: string;
  readonly path: string;
  readonly referrer: string;
  readonly userAgent: string;
};

const COMBINED =
  /^(\S+) \S+ \S+ \[[^\]]*\] "(?:[A-Z]+ )?((?:[^"\\]|\\.)*?)(?: HTTP\/[\d.]+)?" \d+ \S+ "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"?$/;

/** Reads a log, gzipped when its name ends in .gz. Lines that are not in combined format are counted in `skipped`. */
export async function readLogLines(
  path: string,
  linesMax: number,
): Promise<{ lines: LogLine[]; skipped: number }> {
  const file = createReadStream(path);
  const input = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  const lines: LogLine[] = [];
  let skipped = 0;
  let number = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    const match = COMBINED.exec(text);
    if (match === null) {
      if (text !== "") skipped += 1;
      continue;
    }
    const [, ip = "", requested = "", referrer = "", userAgent = ""] = match;
    lines.push({
      number,
      ip,
      path: requested,
      referrer: dashless(referrer),
      userAgent: dashless(userAgent),
    });
    if (lines.length === linesMax) break;
  }
  file.destroy();
  return { lines, skipped };
}

/** Apache writes "-" for a header that was not sent. */
function dashless(value: string): string {
  return value === "-" ? "" : value.replaceAll(/\\(["\\])/g, "$1");
}
