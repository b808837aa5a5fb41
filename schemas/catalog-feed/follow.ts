import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/entry.ts";
import type { Log } from "../host/log.ts";
import type { Queryable } from "../postgres/connect.ts";
import { DiskCopy } from "./disk-copy.ts";
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
/** Changes that wait for the copy; with more of them it is written anew. */
const UNSAVED_MAX = 20_000;

/**
 * Keeps a Catalog equal to Postgres. While Postgres is away the catalog stays as it was, and is loaded from disk at start.
 * Invariant: `catalog.version` is the highest version applied, and every entry up to it has been applied.
 */
export class CatalogFeed {
  readonly #options: CatalogFeedOptions;
  readonly #copy: DiskCopy | undefined;
  /** What has been applied and is not on disk, in its order; undefined when only a new copy will do. */
  #unsaved: CatalogEntry[] | undefined;
  /** A catalog that has it counts as loaded: it is applied last. */
  #heldBack: CatalogEntry | undefined;
  #timer: NodeJS.Timeout | undefined;
  #copyTimer: NodeJS.Timeout | undefined;
  #isAway = false;
  /** The reading that goes on, and the one after it. */
  #underWay: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;
  #closed = false;
  /** UTC ms of the last answer of Postgres; undefined before the first. */
  lastReadAtMs: number | undefined;

  private constructor(options: CatalogFeedOptions) {
    this.#options = options;
    this.#copy = options.copyPath === undefined ? undefined : new DiskCopy(options.copyPath);
  }

  /**
   * Loads the copy on disk and, if Postgres answers, what is newer there. The catalog may still be empty afterwards: neither
   * has answered, and the feed goes on asking.
   */
  static async start(options: CatalogFeedOptions): Promise<CatalogFeed> {
    const feed = new CatalogFeed(options);
    await feed.#loadCopy();
    await feed.refresh();
    feed.#schedule();
    feed.#scheduleCopy();
    return feed;
  }

  /**
   * Has everything applied that was committed before this call. Any number of callers share one reading, one at a time. Never
   * throws: false says that Postgres does not answer, and that the catalog is as it was.
   */
  refresh(): Promise<boolean> {
    if (this.#underWay === undefined) return this.#next ?? this.#begin();
    // The one under way may have begun before the commit.
    this.#next ??= this.#underWay.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<boolean> {
    this.#next = undefined;
    this.#underWay = this.#read().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** In one go, or page by page when there are thousands of changes. */
  async #read(): Promise<boolean> {
    const { catalog, db, log } = this.#options;
    try {
      let changes = 0;
      for await (const page of readCatalogChanges(db, catalog.version)) {
        this.lastReadAtMs = Date.now();
        if (this.#isAway) log.info("catalog.postgres-is-back");
        this.#isAway = false;
        this.#take(page);
        changes += page.length;
      }
      if (this.#heldBack !== undefined) catalog.apply([this.#heldBack]);
      this.#heldBack = undefined;
      if (changes > 0) log.info({ version: catalog.version, changes }, "catalog.swapped");
      return true;
    } catch (error) {
      // Said once per outage: the catalog in memory goes on answering.
      if (!this.#isAway)
        log.warn({ err: error, version: catalog.version }, "catalog.postgres-is-away");
      this.#isAway = true;
      return false;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#copyTimer);
    await this.#save();
  }

  async #loadCopy(): Promise<void> {
    const { catalog, log } = this.#options;
    if (this.#copy === undefined) return;
    if (await this.#copy.read((page) => catalog.apply(page))) {
      this.#unsaved = [];
      log.info({ version: catalog.version }, "catalog.loaded-from-disk");
    } else {
      catalog.clear();
    }
  }

  #take(page: CatalogEntry[]): void {
    const { catalog } = this.#options;
    const first = catalog.isLoaded ? undefined : page.findIndex(isInstallation);
    if (first !== undefined && first >= 0) [this.#heldBack] = page.splice(first, 1);
    catalog.apply(page);
    if (this.#unsaved === undefined) return;
    if (this.#unsaved.length + page.length > UNSAVED_MAX) this.#unsaved = undefined;
    else this.#unsaved.push(...page);
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
      void this.#save().finally(() => this.#scheduleCopy());
    }, COPY_INTERVAL_MS);
  }

  async #save(): Promise<void> {
    const { catalog, copyPath, log } = this.#options;
    const waiting = this.#unsaved;
    if (this.#copy === undefined || !catalog.isLoaded || waiting?.length === 0) return;
    // What is applied from now on is saved the next time.
    this.#unsaved = [];
    try {
      if (waiting === undefined || this.#copy.mustBeReplaced)
        await this.#copy.replace(catalog.entries(catalog.version));
      else await this.#copy.add(waiting);
    } catch (error) {
      this.#unsaved = undefined;
      log.error({ err: error, path: copyPath }, "catalog.copy-failed");
    }
  }
}

function isInstallation(entry: CatalogEntry): boolean {
  return entry.kind === "installation";
}
