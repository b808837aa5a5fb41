import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { type CatalogEntry, catalogShape, parseCatalogEntry } from "../catalog/entry.ts";
import { OfferAccess } from "../catalog/records.ts";
import type { CatalogPosition } from "./read-changes.ts";

/** Written after the whole catalog and after each addition. Bytes after the last one are an addition that was cut off. */
const END_LINE = JSON.stringify({ end: true });
const END = Buffer.from(`\n${END_LINE}\n`);
const READ_BYTES = 1_048_576;
const ENTRIES_PER_PAGE = 2_000;
/** Building the text of one write blocks the event loop for about 1 ms, and visitors with it. */
const LINES_PER_WRITE = 250;
const PAIRS_PER_LINE = 250;
/** The file is rewritten when its additions are larger than this share of the whole catalog and than this number of bytes. */
const ADDED_SHARE_MAX = 0.5;
const ADDED_BYTES_MIN = 1_048_576;

const ACCESS_KIND = "offer_access_pairs";
const ACCESS_LINE_HEAD = `{"kind":"${ACCESS_KIND}"`;

/** Many access records in one line, because they are most of a catalog. `pairs` alternates offer ids and partner ids. */
const AccessLine = z.object({
  kind: z.literal(ACCESS_KIND),
  version: z.int().nonnegative(),
  ...OfferAccess.pick({ status: true, terms_accepted: true }).shape,
  pairs: z.array(z.int().positive()),
});
type AccessLine = z.infer<typeof AccessLine>;

const POSITION_KIND = "catalog_position";
const POSITION_LINE_HEAD = `{"kind":"${POSITION_KIND}"`;

/** The catalog position of the lines before it. Older releases skip it as an entry of an unknown kind. */
const PositionLine = z.object({
  kind: z.literal(POSITION_KIND),
  id: z.literal(""),
  version: z.int().nonnegative(),
  /** `shape`: hash of the record schemas of the release that wrote it (`catalogShape`). */
  record: z.object({ mark: z.uuid(), shape: z.string() }),
});

/** Result of reading a good copy. */
export type CopyState = {
  /**
   * Undefined if the copy has none, or if a release with other record schemas wrote it, which may have left out records that this
   * release can read. Then the whole catalog must be read from Postgres again.
   */
  readonly position: CatalogPosition | undefined;
  /** Number of lines that this release cannot read. */
  readonly skipped: number;
};

/**
 * The last good catalog on disk, so that a process can start and redirect while Postgres is down. One JSON object per line: first the
 * whole catalog, then the changes since. A change is appended instead of rewriting the file.
 */
export class DiskCopy {
  readonly #path: string;
  #wholeBytes = 0;
  #addedBytes = 0;
  /** There is no good copy, or nothing may be added to it. */
  #mustBeReplaced = true;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Passes the entries of the copy to `take` in their order, a page at a time. Returns undefined if there is no copy or it cannot be
   * read to its end; then do not use what `take` received.
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
      // After an addition that was cut off, nothing can be appended.
      this.#mustBeReplaced = goodBytes < size;
      return state;
    } catch {
      // Missing, unreadable or damaged: in each case there is no good copy. The catalog then comes from Postgres.
      return undefined;
    } finally {
      await file?.close();
    }
  }

  /** Whether to call {@link replace} next: {@link add} is not possible, or additions have made the file too large. */
  get mustBeReplaced(): boolean {
    const isOften =
      this.#addedBytes > ADDED_BYTES_MIN && this.#addedBytes > this.#wholeBytes * ADDED_SHARE_MAX;
    return this.#mustBeReplaced || isOften;
  }

  /** Rewrites the file atomically: a reader finds the old copy or the new one. `position` is the catalog position of the entries. */
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

  /** Appends changes. Call it only while {@link mustBeReplaced} is false. After an error the copy must be replaced. */
  async add(
    entries: readonly CatalogEntry[],
    position: CatalogPosition | undefined,
  ): Promise<void> {
    this.#mustBeReplaced = true;
    const file = await open(this.#path, "a", 0o600);
    try {
      for (const text of pagesOf(linesInOrder(entries), position)) {
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

/** The offset after the last END; 0 if there is none. Searches backwards from the end of the file. */
async function endOfGoodPart(file: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0; ) {
    const from = Math.max(0, to - READ_BYTES);
    // Chunks overlap, because an END may begin in one and end in the next.
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
      // A position counts only if it is the last line: an older release appends entries without one.
      position = line.startsWith(POSITION_LINE_HEAD) ? positionOfLine(line) : undefined;
      const entries = entriesOfLine(line);
      if (entries === undefined) skipped += 1;
      else page.push(...entries);
      if (page.length < ENTRIES_PER_PAGE) continue;
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

function* linesInOrder(entries: readonly CatalogEntry[]): Generator<string> {
  for (const entry of entries) yield JSON.stringify(entry);
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
    if (page.pairs.length < 2 * PAIRS_PER_LINE) continue;
    yield JSON.stringify(page);
    pages.delete(key);
  }
  for (const page of pages.values()) yield JSON.stringify(page);
}

/** The text of each write. The last one ends with the position and END. */
function* pagesOf(
  lines: Iterable<string>,
  position: CatalogPosition | undefined,
): Generator<Buffer> {
  let page: string[] = [];
  for (const line of lines) {
    page.push(line);
    if (page.length < LINES_PER_WRITE) continue;
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
