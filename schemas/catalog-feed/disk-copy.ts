import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { type CatalogEntry, catalogShape, parseCatalogEntry } from "../catalog/entry.ts";
import { OfferAccess } from "../catalog/records.ts";
import type { CatalogPosition } from "./read-changes.ts";

/** Ends the catalog, and each addition behind it: what follows the last one was cut off in the middle. */
const END_LINE = JSON.stringify({ end: true });
const END = Buffer.from(`\n${END_LINE}\n`);
const READ_BYTES = 1_048_576;
const ENTRIES_A_PAGE = 2_000;
/** Between two writes nothing else runs: a visitor waits for 1 ms. */
const LINES_A_WRITE = 250;
const PAIRS_A_LINE = 250;
/** The file is written anew when additions make up this share of it, and are more than this. */
const ADDED_SHARE_MAX = 0.5;
const ADDED_BYTES_MIN = 1_048_576;

const ACCESS_KIND = "offer_access_pairs";
const ACCESS_LINE_HEAD = `{"kind":"${ACCESS_KIND}"`;

/** Access records are most of a catalog. They stand together: `pairs` has an offer and a partner in turn. */
const AccessLine = z.object({
  kind: z.literal(ACCESS_KIND),
  version: z.int().nonnegative(),
  ...OfferAccess.pick({ status: true, terms_accepted: true }).shape,
  pairs: z.array(z.int().positive()),
});
type AccessLine = z.infer<typeof AccessLine>;

const POSITION_KIND = "catalog_position";
const POSITION_LINE_HEAD = `{"kind":"${POSITION_KIND}"`;

/** How far the lines before it go. Another release takes it for an entry of a kind that it does not know. */
const PositionLine = z.object({
  kind: z.literal(POSITION_KIND),
  id: z.literal(""),
  version: z.int().nonnegative(),
  /** `shape`: of records as the writer reads them. */
  record: z.object({ mark: z.uuid(), shape: z.string() }),
});

/** What a good copy says of itself. */
export type CopyState = {
  /**
   * Undefined when it does not say, and when another release wrote it: that may have left out what this one can read. Then all has
   * to be read again.
   */
  readonly position: CatalogPosition | undefined;
  /** Lines of another release that this one cannot read. */
  readonly skipped: number;
};

/**
 * The last good catalog on disk (P: Postgres down never stops a redirect, also after a restart): one JSON object a line, the
 * whole catalog first, then what has changed since. A change costs an addition and not the writing of the whole.
 */
export class DiskCopy {
  readonly #path: string;
  #wholeBytes = 0;
  #addedBytes = 0;
  /** Nothing good is there, or nothing may be added to it. */
  #mustBeReplaced = true;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Gives the entries of the copy to `take`, in their order, a page at a time. Undefined when there is none, or when it cannot be
   * read to its end: then what `take` was given is not to be used.
   */
  async read(take: (page: readonly CatalogEntry[]) => void): Promise<CopyState | undefined> {
    let file: FileHandle | undefined;
    try {
      file = await open(this.#path, "r");
      const { size } = await file.stat();
      const goodBytes = await endOfGoodPart(file, size);
      if (goodBytes === 0) return undefined;
      const state = await readEntries(file, goodBytes, take);
      this.#wholeBytes = goodBytes;
      // Behind a torn end nothing can be added.
      this.#mustBeReplaced = goodBytes < size;
      return state;
    } catch {
      // Missing, unreadable, damaged or of another release: all mean that there is no good copy, and the caller says so.
      return undefined;
    } finally {
      await file?.close();
    }
  }

  /** Whether the next thing to do is {@link replace}, because {@link add} cannot be done or has been done often enough. */
  get mustBeReplaced(): boolean {
    const isOften =
      this.#addedBytes > ADDED_BYTES_MIN && this.#addedBytes > this.#wholeBytes * ADDED_SHARE_MAX;
    return this.#mustBeReplaced || isOften;
  }

  /** Writes all of it anew, in one step: a reader finds the old one or the new one. `position` is that of the entries. */
  async replace(
    entries: Iterable<CatalogEntry>,
    position: CatalogPosition | undefined,
  ): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    const fresh = `${this.#path}.${process.pid}.new`;
    const file = await open(fresh, "w", 0o600);
    let bytes = 0;
    try {
      for (const text of pagesOf(linesOf(entries), position)) {
        await file.write(text);
        bytes += text.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, this.#path);
    this.#wholeBytes = bytes;
    this.#addedBytes = 0;
    this.#mustBeReplaced = false;
  }

  /** Adds changes to a copy that {@link mustBeReplaced} does not speak of. After an error it must be replaced. */
  async add(
    entries: readonly CatalogEntry[],
    position: CatalogPosition | undefined,
  ): Promise<void> {
    this.#mustBeReplaced = true;
    const file = await open(this.#path, "a", 0o600);
    try {
      const lines = entries.map((entry) => JSON.stringify(entry));
      for (const text of pagesOf(lines, position)) {
        await file.write(text);
        this.#addedBytes += text.length;
      }
      await file.datasync();
    } finally {
      await file.close();
    }
    this.#mustBeReplaced = false;
  }
}

/** Where the last END ends; 0 when there is none. Looked for from the end of the file. */
async function endOfGoodPart(file: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0; ) {
    const from = Math.max(0, to - READ_BYTES);
    // A chunk overlaps the next one, in which an END may begin.
    const chunk = await readChunk(file, from, Math.min(size, to + END.length) - from);
    const at = chunk.lastIndexOf(END);
    if (at >= 0) return from + at + END.length;
    to = from;
  }
  return 0;
}

async function readChunk(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

async function readEntries(
  file: FileHandle,
  goodBytes: number,
  take: (page: readonly CatalogEntry[]) => void,
): Promise<CopyState> {
  let page: CatalogEntry[] = [];
  let position: CatalogPosition | undefined;
  let skipped = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let from = 0; from < goodBytes; from += READ_BYTES) {
    const chunk = await readChunk(file, from, Math.min(READ_BYTES, goodBytes - from));
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf("\n") + 1;
    rest = bytes.subarray(end);
    for (const line of bytes.toString("utf8", 0, end).split("\n")) {
      if (line === "" || line === END_LINE) continue;
      // An older release adds entries and says no position: they lie behind the one that stands there.
      position = line.startsWith(POSITION_LINE_HEAD) ? positionOfLine(line) : undefined;
      const entries = entriesOfLine(line);
      if (entries === undefined) skipped += 1;
      else page.push(...entries);
      if (page.length < ENTRIES_A_PAGE) continue;
      take(page);
      page = [];
    }
  }
  take(page);
  return { position: skipped > 0 ? undefined : position, skipped };
}

function positionOfLine(line: string): CatalogPosition | undefined {
  const { data } = PositionLine.safeParse(JSON.parse(line));
  if (data === undefined || data.record.shape !== catalogShape()) return undefined;
  return { version: data.version, mark: data.record.mark };
}

/** Undefined for a record that this release cannot read. @throws {SyntaxError} for a damaged line. */
function entriesOfLine(line: string): readonly CatalogEntry[] | undefined {
  const value: unknown = JSON.parse(line);
  try {
    if (line.startsWith(ACCESS_LINE_HEAD)) return accessEntries(AccessLine.parse(value));
    const entry = parseCatalogEntry(value);
    return entry === undefined ? [] : [entry];
  } catch (error) {
    if (error instanceof z.ZodError) return undefined;
    throw error;
  }
}

function accessEntries({ version, status, terms_accepted, pairs }: AccessLine): CatalogEntry[] {
  const entries: CatalogEntry[] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const [offer_id = 0, affiliate_id = 0] = [pairs[at], pairs[at + 1]];
    const record = { offer_id, affiliate_id, status, terms_accepted };
    entries.push({ kind: "offer_access", id: `${offer_id}-${affiliate_id}`, version, record });
  }
  return entries;
}

function* linesOf(entries: Iterable<CatalogEntry>): Generator<string> {
  const pages = new Map<string, AccessLine>();
  for (const entry of entries) {
    if (entry.kind !== "offer_access" || entry.record === null) {
      yield JSON.stringify(entry);
      continue;
    }
    const { offer_id, affiliate_id, status, terms_accepted } = entry.record;
    const { version } = entry;
    const key = `${version} ${status} ${terms_accepted}`;
    let page = pages.get(key);
    if (page === undefined) {
      page = { kind: ACCESS_KIND, version, status, terms_accepted, pairs: [] };
      pages.set(key, page);
    }
    page.pairs.push(offer_id, affiliate_id);
    if (page.pairs.length < 2 * PAIRS_A_LINE) continue;
    yield JSON.stringify(page);
    pages.delete(key);
  }
  for (const page of pages.values()) yield JSON.stringify(page);
}

/** Texts to write one by one, the position and the END at last. */
function* pagesOf(
  lines: Iterable<string>,
  position: CatalogPosition | undefined,
): Generator<Buffer> {
  let page: string[] = [];
  for (const line of lines) {
    page.push(line);
    if (page.length < LINES_A_WRITE) continue;
    yield Buffer.from(`${page.join("\n")}\n`);
    page = [];
  }
  if (position !== undefined) page.push(lineOfPosition(position));
  yield Buffer.from(`${[...page, END_LINE].join("\n")}\n`);
}

function lineOfPosition({ version, mark }: CatalogPosition): string {
  const line: z.infer<typeof PositionLine> = {
    kind: POSITION_KIND,
    id: "",
    version,
    record: { mark, shape: catalogShape() },
  };
  return JSON.stringify(line);
}
