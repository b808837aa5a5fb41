import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/entry.ts";
import type { Log } from "../host/log.ts";
import type { Queryable } from "../postgres/connect.ts";
import { readDiskCopy, writeDiskCopy } from "./disk-copy.ts";
import { readCatalogChanges } from "./read-changes.ts";

export type CatalogFeedOptions = {
  readonly catalog: Catalog;
  readonly db: Queryable;
  readonly log: Log;
  /** Where the last good copy is kept; no copy is kept without it. */
  readonly copyPath?: string;
};

/** A change is in force within a second of its commit (design 5). */
const POLL_MS = 250;
const COPY_INTERVAL_MS = 5_000;

/**
 * Keeps a Catalog equal to Postgres. While Postgres is away the catalog stays as it was, and is loaded from disk at start.
 * Invariant: `catalog.version` is the highest version applied, and every entry up to it has been applied.
 */
export class CatalogFeed {
  readonly #options: CatalogFeedOptions;
  /** Newest entry of every record, as the copy on disk is written from it; empty without a copyPath. */
  readonly #entries = new Map<string, CatalogEntry>();
  #timer: NodeJS.Timeout | undefined;
  #copyTimer: NodeJS.Timeout | undefined;
  #copiedVersion = -1;
  #isAway = false;
  #closed = false;
  /** UTC ms of the last answer of Postgres; undefined before the first. */
  lastReadAtMs: number | undefined;

  private constructor(options: CatalogFeedOptions) {
    this.#options = options;
  }

  /**
   * Loads the copy on disk and, if Postgres answers, what is newer there. The catalog may still be empty afterwards: neither
   * has answered, and the feed goes on asking.
   */
  static async start(options: CatalogFeedOptions): Promise<CatalogFeed> {
    const feed = new CatalogFeed(options);
    if (options.copyPath !== undefined) {
      const copy = await readDiskCopy(options.copyPath);
      if (copy !== undefined) {
        feed.#take(copy);
        options.log.info(
          { version: options.catalog.version, entries: copy.length },
          "catalog.loaded-from-disk",
        );
      }
    }
    await feed.refresh();
    feed.#schedule();
    feed.#scheduleCopy();
    return feed;
  }

  /** Applies what is new, now. Never throws: an unreachable Postgres leaves the catalog as it is. */
  async refresh(): Promise<void> {
    const { catalog, db, log } = this.#options;
    try {
      const changes = await readCatalogChanges(db, catalog.version);
      this.lastReadAtMs = Date.now();
      if (this.#isAway) log.info("catalog.postgres-is-back");
      this.#isAway = false;
      if (changes.length === 0) return;
      this.#take(changes);
      log.info({ version: catalog.version, changes: changes.length }, "catalog.swapped");
    } catch (error) {
      // Said once per outage: the catalog in memory goes on answering.
      if (!this.#isAway)
        log.warn({ err: error, version: catalog.version }, "catalog.postgres-is-away");
      this.#isAway = true;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#copyTimer);
    await this.#writeCopy();
  }

  #take(entries: readonly CatalogEntry[]): void {
    this.#options.catalog.apply(entries);
    if (this.#options.copyPath === undefined) return;
    for (const entry of entries) {
      const key = `${entry.kind} ${entry.id}`;
      // Entries keep the order of their versions, so that the copy is read like a page of changes.
      this.#entries.delete(key);
      if (entry.record !== null) this.#entries.set(key, entry);
    }
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.refresh().finally(() => this.#schedule());
    }, POLL_MS);
  }

  #scheduleCopy(): void {
    if (this.#closed) return;
    this.#copyTimer = setTimeout(() => {
      void this.#writeCopy().finally(() => this.#scheduleCopy());
    }, COPY_INTERVAL_MS);
  }

  async #writeCopy(): Promise<void> {
    const { catalog, copyPath, log } = this.#options;
    if (copyPath === undefined || catalog.version === this.#copiedVersion || !catalog.isLoaded)
      return;
    const version = catalog.version;
    try {
      await writeDiskCopy(copyPath, this.#entries.values());
      this.#copiedVersion = version;
    } catch (error) {
      log.error({ err: error, path: copyPath }, "catalog.copy-failed");
    }
  }
}
