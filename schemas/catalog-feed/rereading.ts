import { setImmediate } from "node:timers/promises";
import { AccessTable } from "../catalog/access-table.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/entry.ts";
import type { UnreadableRecord } from "./unreadable-records.ts";

/** Between two slices the event loop serves requests, so visitors wait a few milliseconds at most. */
const ENTRIES_PER_SLICE = 5_000;

/** Postgres belongs to another installation than the catalog in memory, so nothing is read from it. */
class OtherInstallationError extends Error {
  override readonly name = "OtherInstallationError";
}

/**
 * Reads a whole catalog from Postgres while the one in memory stays in use. It keeps only the differences: after a restore there are
 * few, and two large catalogs would not fit into the memory of an ingress. No other code may change the catalog until {@link changes}
 * are applied.
 */
export class Rereading {
  readonly #catalog: Catalog;
  /** Records in memory by kind and id, without access records. */
  readonly #known = new Map<string, CatalogEntry["record"]>();
  readonly #met = new Set<string>();
  readonly #metAccess = new AccessTable();
  readonly #changed = new Map<string, CatalogEntry>();

  private constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  static async of(catalog: Catalog): Promise<Rereading> {
    const reading = new Rereading(catalog);
    for await (const entry of inSlices(catalog.entries(0))) {
      if (entry.kind !== "offer_access") reading.#known.set(keyOf(entry), entry.record);
    }
    return reading;
  }

  /** Takes entries in the order of versions. If a record has several entries, the last one counts. @throws {OtherInstallationError} */
  take(entries: readonly CatalogEntry[]): void {
    for (const entry of entries) {
      if (entry.kind === "installation" && entry.record?.secret !== this.#catalog.secret)
        throw new OtherInstallationError(
          "Postgres belongs to another installation than the catalog in memory: check POSTGRES_URL; if it is right, remove the copy of the catalog from DATA_DIR and start again",
        );
      this.#meet(entry);
      if (entry.record === null || this.#isKnown(entry)) this.#changed.delete(keyOf(entry));
      else this.#changed.set(keyOf(entry), entry);
    }
  }

  /** Keeps the record in memory, if there is one, because its new version cannot be read. */
  keep({ kind, id }: UnreadableRecord): void {
    if (kind !== "offer_access") {
      this.#met.add(`${kind} ${id}`);
      return;
    }
    const [offer_id = 0, affiliate_id = 0] = id.split("-").map(Number);
    this.#metAccess.set({ offer_id, affiliate_id, status: "pending", terms_accepted: false });
  }

  /** The changes that make the catalog in memory equal to the one that was read, removals included. */
  async changes(): Promise<readonly CatalogEntry[]> {
    const changes = [...this.#changed.values()];
    for await (const entry of inSlices(this.#catalog.entries(0))) {
      const isMet =
        entry.kind === "offer_access" && entry.record !== null
          ? this.#metAccess.get(entry.record.offer_id, entry.record.affiliate_id) !== undefined
          : this.#met.has(keyOf(entry));
      const { kind, id } = entry;
      if (!isMet) changes.push({ kind, id, version: 0, record: null });
    }
    return changes;
  }

  #meet(entry: CatalogEntry): void {
    if (entry.kind !== "offer_access") {
      if (entry.record === null) this.#met.delete(keyOf(entry));
      else this.#met.add(keyOf(entry));
    } else if (entry.record === null) {
      const [offerId = 0, affiliateId = 0] = entry.id.split("-").map(Number);
      this.#metAccess.delete(offerId, affiliateId);
    } else {
      this.#metAccess.set(entry.record);
    }
  }

  /** Whether the record in memory is the same. */
  #isKnown(entry: CatalogEntry): boolean {
    if (entry.kind !== "offer_access") {
      const known = this.#known.get(keyOf(entry));
      return known !== undefined && JSON.stringify(known) === JSON.stringify(entry.record);
    }
    if (entry.record === null) return false;
    const { offer_id, affiliate_id, status, terms_accepted } = entry.record;
    const known = this.#catalog.accessOf(offer_id, affiliate_id);
    return known?.status === status && known.terms_accepted === terms_accepted;
  }
}

function keyOf({ kind, id }: CatalogEntry): string {
  return `${kind} ${id}`;
}

async function* inSlices(entries: Iterable<CatalogEntry>): AsyncGenerator<CatalogEntry> {
  let taken = 0;
  for (const entry of entries) {
    yield entry;
    taken += 1;
    if (taken % ENTRIES_PER_SLICE === 0) await setImmediate();
  }
}
