import { createReadStream } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { type CatalogEntry, parseCatalogEntry } from "../catalog/entry.ts";

/** One entry a line, and this as the last one, so that a cut file is told from a whole one. */
const END_LINE = JSON.stringify({ end: true });
const LINES_A_WRITE = 2_000;

/**
 * The last good catalog on disk (P: Postgres down never stops a redirect, also after a restart). Undefined when there is
 * none or when it is not whole: then Postgres must answer before the first click.
 */
export async function readDiskCopy(path: string): Promise<CatalogEntry[] | undefined> {
  const entries: CatalogEntry[] = [];
  let isWhole = false;
  try {
    const lines = createInterface({
      input: createReadStream(path, "utf8"),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    for await (const line of lines) {
      if (line === END_LINE) {
        isWhole = true;
        continue;
      }
      const entry = parseCatalogEntry(JSON.parse(line));
      if (entry !== undefined) entries.push(entry);
    }
  } catch {
    // Missing, unreadable or damaged: all mean that there is no good copy, and the caller says what that means.
    return undefined;
  }
  return isWhole ? entries : undefined;
}

/** Replaces the copy in one step: a reader finds the old one or the new one. */
export async function writeDiskCopy(path: string, entries: Iterable<CatalogEntry>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}.new`;
  const file = await open(fresh, "w", 0o600);
  try {
    let lines: string[] = [];
    for (const entry of entries) {
      lines.push(JSON.stringify(entry));
      if (lines.length === LINES_A_WRITE) {
        await file.write(`${lines.join("\n")}\n`);
        lines = [];
      }
    }
    await file.write(`${[...lines, END_LINE].join("\n")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}
