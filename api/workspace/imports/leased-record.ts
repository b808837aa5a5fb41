import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { FaultList } from "./file/fault-list.ts";
import type { RunRecord, WrittenPart } from "./file/import-plan.ts";
import type { ImportRecord } from "./file/import-record.ts";
import { holdLease, type LeasedImport, notePart } from "./import-leases.ts";
import type { ImportMetrics } from "./import-metrics.ts";
import { storedFaults } from "./stored-faults.ts";
import type { StoredFault } from "./stored-import.ts";

/**
 * The record of an import that is carried out under a lease. The transaction that writes rows also notes them in the audit log and in the
 * import, with the faults of rows that were refused only then, and only if the lease is still held. So a process that has lost its lease writes
 * nothing, and after a kill nothing is written twice and no fault is lost.
 */
export class LeasedRecord implements RunRecord {
  readonly #leased: LeasedImport;
  readonly #record: ImportRecord;
  readonly #faults: FaultList;
  readonly #earlierFaults: readonly StoredFault[];
  readonly #metrics: ImportMetrics;
  /** The part of the last note, until its commit is known. */
  #noted: WrittenPart | undefined;

  constructor(
    leased: LeasedImport,
    parts: {
      readonly record: ImportRecord;
      readonly faults: FaultList;
      /** Of rows that an earlier lease has left out. */
      readonly earlierFaults: readonly StoredFault[];
      readonly metrics: ImportMetrics;
    },
  ) {
    this.#leased = leased;
    this.#record = parts.record;
    this.#faults = parts.faults;
    this.#earlierFaults = parts.earlierFaults;
    this.#metrics = parts.metrics;
  }

  /** @throws {LeaseLostError} @throws {AnotherRunError} */
  async begin(tx: Queryable, context: OperationContext): Promise<void> {
    await holdLease(tx, this.#leased);
    await this.#record.begin(tx, context);
  }

  /** @throws {LeaseLostError} */
  async note(tx: Queryable, context: OperationContext, part: WrittenPart): Promise<number> {
    const { refused } = part;
    const faults =
      refused.length === 0
        ? undefined
        : [...this.#earlierFaults, ...storedFaults(this.#faults.keptWith(refused))];
    await notePart(tx, this.#leased, { part, faults });
    this.#noted = part;
    return await this.#record.note(tx, context, part);
  }

  hasNoted(note: number): void {
    this.#record.hasNoted(note);
    if (this.#noted === undefined) return;
    const { created, updated, refused } = this.#noted;
    this.#metrics.written({ created, updated, refused: refused.length });
    this.#noted = undefined;
  }
}
