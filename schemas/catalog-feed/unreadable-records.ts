import { z } from "zod";
import type { Log } from "../host/log.ts";

/** A record of Postgres that this release cannot read. */
export type UnreadableRecord = {
  readonly kind: string;
  readonly id: string;
  readonly version: number;
  readonly error: unknown;
};

/** Kinds of records that can cause the refusal of a report or command when they are missing or old. */
const KINDS_OF_REFUSALS: ReadonlySet<string> = new Set([
  "workspace",
  "advertiser",
  "offer",
  "offer_event",
  "affiliate",
  "offer_access",
  "coupon",
  "code_alias",
  "advertiser_old_token",
]);
/** If one read has more of them, only their number is logged. */
const LINES_PER_READING = 20;

/**
 * Records in Postgres that this process cannot read. Their last readable version, if any, stays in use. Bounded by the number of
 * records.
 */
export class UnreadableRecords {
  readonly #log: Log;
  readonly #versions = new Map<string, number>();
  #lines = 0;
  #unreported = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  get size(): number {
    return this.#versions.size;
  }

  /** Whether an unreadable record may cause refusals. */
  get mayCauseRefusals(): boolean {
    for (const key of this.#versions.keys()) {
      if (KINDS_OF_REFUSALS.has(key.slice(0, key.indexOf(" ")))) return true;
    }
    return false;
  }

  /** Logs each version once. */
  note(records: readonly UnreadableRecord[]): void {
    for (const { kind, id, version, error } of records) {
      const key = keyOf(kind, id);
      if (this.#versions.get(key) === version) continue;
      this.#versions.set(key, version);
      this.#report({ kind, id, version, problems: problemsOf(error) });
    }
  }

  /** Call it with records that could be read or were deleted. */
  forget(records: readonly { readonly kind: string; readonly id: string }[]): void {
    if (this.#versions.size === 0) return;
    for (const { kind, id } of records) this.#versions.delete(keyOf(kind, id));
  }

  /** Keeps only these, after the whole catalog was read: the others were deleted. */
  keepOnly(records: readonly UnreadableRecord[]): void {
    const met = new Set(records.map(({ kind, id }) => keyOf(kind, id)));
    for (const key of this.#versions.keys()) if (!met.has(key)) this.#versions.delete(key);
  }

  /** Call it at the end of a read. */
  summarize(): void {
    if (this.#unreported > 0)
      this.#log.error({ records: this.#unreported }, "catalog.more-records-unreadable");
    this.#unreported = 0;
    this.#lines = 0;
  }

  #report(facts: object): void {
    this.#lines += 1;
    if (this.#lines <= LINES_PER_READING) this.#log.error(facts, "catalog.record-unreadable");
    else this.#unreported += 1;
  }
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Paths and rules, never values: a record may contain a token. */
function problemsOf(error: unknown): readonly string[] {
  if (!(error instanceof z.ZodError)) return [String(error)];
  return error.issues.slice(0, 5).map(({ path, code }) => `${path.join(".")}: ${code}`);
}
