import type { FieldFaults } from "../../../operation/operation.ts";

const FAULTS_OF_ROW_MAX = 20;

/** What is wrong with one row. */
export type RowFaults = {
  readonly row: number;
  /** Field and fault; the field is "" for the row as a whole. */
  readonly faults: readonly (readonly [field: string, fault: string])[];
  /** Number of faults that are not listed. */
  readonly more: number;
};

/** Faults of the rows of a file. All faulty rows are counted; the faults of the first are kept. */
export class FaultList {
  readonly #keptMax: number;
  readonly #kept: RowFaults[] = [];
  /** Numbers of the rows that have faults. */
  readonly rows = new Set<number>();

  /** Keeps the faults of at most `keptMax` rows. */
  constructor(keptMax: number) {
    this.#keptMax = keptMax;
  }

  /** The faults of the first faulty rows, in the order in which they were found. */
  get kept(): readonly RowFaults[] {
    return this.#kept;
  }

  add(row: number, faults: FieldFaults): void {
    this.rows.add(row);
    if (this.rows.size <= this.#keptMax) this.#kept.push(rowFaults(row, faults));
  }
}

function rowFaults(row: number, faults: FieldFaults): RowFaults {
  const named = Object.entries(faults);
  return {
    row,
    faults: named.slice(0, FAULTS_OF_ROW_MAX),
    more: Math.max(0, named.length - FAULTS_OF_ROW_MAX),
  };
}
