import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/entry.ts";
import type { Log } from "../host/log.ts";
import type { Counter, Metrics } from "../host/metrics.ts";
import type { Queryable } from "../postgres/connect.ts";
import { isPostgresAway } from "../postgres/errors.ts";
import { DiskCopy } from "./disk-copy.ts";
import { catalogFeedMetrics } from "./metrics.ts";
import {
  type CatalogPosition,
  isNewest,
  PositionNotOnLogError,
  readCatalogChanges,
} from "./read-changes.ts";
import { Rereading } from "./rereading.ts";
import { type UnreadableRecord, UnreadableRecords } from "./unreadable-records.ts";

export type CatalogFeedOptions = {
  readonly catalog: Catalog;
  readonly db: Queryable;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where the last good copy is kept; no copy is kept without it. */
  readonly copyPath?: string;
};

/** A change is in force within a second of its commit. */
const POLL_MS = 250;
/** Between attempts to write the copy while the disk refuses it. */
const COPY_RETRY_MS = 5_000;
/** Changes that wait to be appended to the copy. If there are more, the copy is rewritten. */
const UNSAVED_MAX = 20_000;
/** Attempts in one refresh, if Postgres is restored while it is being read. */
const ATTEMPTS_MAX = 3;

type RereadReason = PositionNotOnLogError["reason"] | "copy without position";

/**
 * Keeps a Catalog equal to Postgres. While Postgres is away the catalog stays as it was; at start it is loaded from disk.
 * Invariant: exactly the readable entries up to the position have been applied. If the history of Postgres does not contain the position
 * (G206), everything is read again while the old catalog stays in use, and then all differences are applied at once.
 */
export class CatalogFeed {
  readonly #options: CatalogFeedOptions;
  readonly #copy: DiskCopy | undefined;
  /** Applied changes that are not on disk yet, in order; undefined if the copy must be rewritten. */
  #unsaved: CatalogEntry[] | undefined;
  /** The installation entry of a first load. It is applied last, because a catalog that has it counts as loaded. */
  #heldBack: CatalogEntry | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #rewinds: Counter;
  readonly #unreadable: UnreadableRecords;
  /** Undefined until something was read, and while the history of the catalog in memory is unknown. */
  #position: CatalogPosition | undefined;
  /** Whether everything up to the newest change was read: a position may be in the middle of a transaction. */
  #isReadToEnd = false;
  #rereadReason: RereadReason = "copy without position";
  /** The log event of the last failed read; undefined after a success. */
  #trouble: string | undefined;
  /** The read in progress, and the one after it. */
  #underWay: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;
  #saving: Promise<void> | undefined;
  /** Monotonic ms before which the copy is not tried again. */
  #copyRefusedUntilMs = 0;
  #closed = false;
  /** UTC ms of the last answer of Postgres; undefined before the first. */
  lastReadAtMs: number | undefined;
  /** The same on the monotonic clock. */
  #answeredAtMs: number | undefined;

  private constructor(options: CatalogFeedOptions) {
    this.#options = options;
    this.#unreadable = new UnreadableRecords(options.log);
    this.#rewinds = catalogFeedMetrics(options.metrics, {
      unreadableRecords: () => this.unreadableRecords,
      version: () => options.catalog.version,
      answeredAtMs: () => this.#answeredAtMs,
    });
    this.#copy = options.copyPath === undefined ? undefined : new DiskCopy(options.copyPath);
  }

  /**
   * Loads the copy on disk and, if Postgres answers, newer changes from there. If neither is available, the catalog is still empty
   * afterwards, and the feed keeps trying.
   */
  static async start(options: CatalogFeedOptions): Promise<CatalogFeed> {
    const feed = new CatalogFeed(options);
    await feed.#loadCopy();
    await feed.refresh();
    feed.#saveInBackground();
    feed.#schedule();
    return feed;
  }

  /** Number of records in Postgres that this release cannot read. Their last readable version, if any, stays in use. */
  get unreadableRecords(): number {
    return this.#unreadable.size;
  }

  /** The newest change in memory; undefined before the first read, and while its history is unknown. */
  get position(): CatalogPosition | undefined {
    return this.#position;
  }

  /** Whether a refusal may be caused by such a record: then it is an outage and must not be answered as the sender's error (P15). */
  get mayRefuseWrongly(): boolean {
    return this.#unreadable.mayCauseRefusals;
  }

  /**
   * Applies everything that was committed before this call. Concurrent callers share a read. Never throws: returns false if Postgres
   * does not answer; the catalog is then unchanged.
   */
  refresh(): Promise<boolean> {
    if (this.#underWay === undefined) return this.#next ?? this.#begin();
    // The read in progress may have begun before the commit.
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

  /** Reads and applies changes. Retries at once if the history of Postgres changed. Returns false after any other error. */
  async #read(): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (this.#position === undefined && this.#options.catalog.isLoaded) await this.#reread();
        else await this.#readOn();
        this.#unreadable.summarize();
        if (this.#trouble !== undefined) this.#options.log.info("catalog.postgres-is-back");
        this.#trouble = undefined;
        return true;
      } catch (error) {
        if (error instanceof PositionNotOnLogError) this.#losePosition(error);
        if (error instanceof PositionNotOnLogError && attempt < ATTEMPTS_MAX) continue;
        this.#failed(error);
        return false;
      }
    }
  }

  async #readOn(): Promise<void> {
    const { catalog, db, log } = this.#options;
    if (this.#isReadToEnd && this.#position !== undefined && (await isNewest(db, this.#position))) {
      this.#answered();
      return;
    }
    this.#isReadToEnd = false;
    let changes = 0;
    for await (const page of readCatalogChanges(db, this.#position)) {
      const { entries, unreadable, position } = page;
      this.#answered();
      this.#unreadable.forget(entries);
      this.#unreadable.note(unreadable);
      this.#take([...entries]);
      this.#position = position;
      catalog.version = position.version;
      changes += entries.length;
    }
    if (this.#heldBack !== undefined) catalog.apply([this.#heldBack]);
    this.#heldBack = undefined;
    this.#isReadToEnd = true;
    if (changes > 0) log.info({ version: catalog.version, changes }, "catalog.swapped");
  }

  /** Reads the whole catalog while the one in memory is still used. The differences are applied at once, between two requests. */
  async #reread(): Promise<void> {
    const { catalog, db, log } = this.#options;
    const startedAtMs = performance.now();
    const reading = await Rereading.of(catalog);
    const unreadable: UnreadableRecord[] = [];
    let position: CatalogPosition | undefined;
    for await (const page of readCatalogChanges(db, undefined)) {
      this.#answered();
      reading.take(page.entries);
      this.#unreadable.forget(page.entries);
      this.#unreadable.note(page.unreadable);
      for (const record of page.unreadable) reading.keep(record);
      unreadable.push(...page.unreadable);
      ({ position } = page);
    }
    const changes = await reading.changes();
    this.#unreadable.keepOnly(unreadable);
    const { version: fromVersion } = catalog;
    catalog.apply(changes);
    catalog.version = position?.version ?? 0;
    this.#position = position;
    this.#isReadToEnd = true;
    this.#unsaved = undefined;
    const reason = this.#rereadReason;
    const ms = Math.round(performance.now() - startedAtMs);
    const facts = { fromVersion, version: catalog.version, changes: changes.length, reason, ms };
    if (reason !== "restored") {
      log.warn(facts, "catalog.read-anew");
      return;
    }
    catalog.noteRewind();
    this.#rewinds.add();
    log.error(facts, "catalog.rewound");
  }

  #losePosition({ reason }: PositionNotOnLogError): void {
    // A restore stays the reason if the log is shortened while everything is read again.
    if (this.#position !== undefined || this.#rereadReason !== "restored")
      this.#rereadReason = reason;
    this.#position = undefined;
    // A first load that began with another history. No answer was based on it.
    if (!this.#options.catalog.isLoaded) this.#options.catalog.clear();
    this.#heldBack = undefined;
  }

  #answered(): void {
    this.lastReadAtMs = Date.now();
    this.#answeredAtMs = performance.now();
  }

  /** Logs an error once per outage. The catalog in memory stays in use. */
  #failed(error: unknown): void {
    const { catalog, log } = this.#options;
    const trouble = isPostgresAway(error) ? "catalog.postgres-is-away" : "catalog.not-read";
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    const facts = { err: error, version: catalog.version };
    if (isPostgresAway(error)) log.warn(facts, trouble);
    else log.error(facts, trouble);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#saving;
    await this.#saveNow();
  }

  async #loadCopy(): Promise<void> {
    const { catalog, log } = this.#options;
    if (this.#copy === undefined) return;
    const state = await this.#copy.read((page) => catalog.apply(page));
    if (state === undefined) {
      catalog.clear();
      return;
    }
    this.#unsaved = [];
    this.#position = state.position;
    catalog.version = state.position?.version ?? catalog.version;
    const { skipped } = state;
    log.info({ version: catalog.version, skipped }, "catalog.loaded-from-disk");
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
      void this.refresh().finally(() => {
        this.#saveInBackground();
        this.#schedule();
      });
    }, POLL_MS);
  }

  /**
   * Saves after each read: a process that is killed and starts while Postgres is away knows what it answered with before. Only one save
   * runs at a time, because all write the same file.
   */
  #saveInBackground(): void {
    if (this.#closed || this.#saving !== undefined) return;
    if (performance.now() < this.#copyRefusedUntilMs) return;
    this.#saving = this.#saveNow().finally(() => {
      this.#saving = undefined;
    });
  }

  async #saveNow(): Promise<void> {
    const { catalog, copyPath, log } = this.#options;
    const waiting = this.#unsaved;
    // A copy without a position is read again at the next start, perhaps by a release that can read the unreadable records.
    const position = this.#unreadable.size > 0 ? undefined : this.#position;
    if (this.#copy === undefined || !catalog.isLoaded || waiting?.length === 0) return;
    // Changes from now on are saved the next time.
    this.#unsaved = [];
    try {
      if (waiting === undefined || this.#copy.mustBeReplaced)
        await this.#copy.replace(catalog.entries(catalog.version), position);
      else await this.#copy.add(waiting, position);
    } catch (error) {
      this.#unsaved = undefined;
      this.#copyRefusedUntilMs = performance.now() + COPY_RETRY_MS;
      log.error({ err: error, path: copyPath }, "catalog.copy-failed");
    }
  }
}

function isInstallation(entry: CatalogEntry): boolean {
  return entry.kind === "installation";
}
