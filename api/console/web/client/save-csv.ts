import { problemFrom } from "./problem.ts";
import type { Reader } from "./reports.ts";
import { saveFile } from "./save-file.ts";

/** What of a file has arrived. Its first line holds the headings and is not counted. */
export type CsvProgress = { readonly lines: number; readonly bytes: number };

/**
 * Fetches a file with the rights of this tab, because a link would send no header with the membership, and saves it. Aborting the signal
 * ends the request, so that the service stops reading.
 * @throws {Problem}
 */
export async function saveCsv(
  { membershipId }: Pick<Reader, "membershipId">,
  {
    path,
    name,
    signal,
    onProgress,
  }: {
    readonly path: string;
    readonly name: string;
    readonly signal: AbortSignal;
    readonly onProgress: (progress: CsvProgress) => void;
  },
): Promise<CsvProgress> {
  const headers = { "x-tracker-membership": String(membershipId) };
  const response = await fetch(path, { headers, signal });
  if (!response.ok) throw problemFrom(response, await response.json());
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const counter = new LineCounter();
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    parts.push(part.value);
    onProgress(counter.add(part.value));
  }
  saveFile(name, parts);
  return counter.progress();
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Counts the lines of a CSV as its bytes arrive. A line break within quotes belongs to its cell. */
export class LineCounter {
  #ends = 0;
  #bytes = 0;
  #isQuoted = false;

  add(part: Uint8Array): CsvProgress {
    for (const byte of part) {
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#ends += 1;
    }
    this.#bytes += part.length;
    return this.progress();
  }

  progress(): CsvProgress {
    return { lines: Math.max(0, this.#ends - 1), bytes: this.#bytes };
  }
}
