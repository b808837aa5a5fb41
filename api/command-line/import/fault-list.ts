import type { FieldFaults } from "../../operation.ts";

const ROWS_SHOWN_MAX = 50;
const FAULTS_OF_ROW_MAX = 20;

/** Faults of the rows of a file. All faulty rows are counted; the faults of the first are shown. */
export class FaultList {
  readonly #lines: string[] = [];
  /** Numbers of the rows that have faults. */
  readonly rows = new Set<number>();

  add(row: number, faults: FieldFaults): void {
    this.rows.add(row);
    if (this.rows.size > ROWS_SHOWN_MAX) return;
    const named = Object.entries(faults);
    for (const [field, fault] of named.slice(0, FAULTS_OF_ROW_MAX)) {
      this.#lines.push(field === "" ? `  row ${row} ${fault}` : `  row ${row}: ${field}: ${fault}`);
    }
    if (named.length > FAULTS_OF_ROW_MAX) {
      this.#lines.push(`  row ${row}: and ${named.length - FAULTS_OF_ROW_MAX} more`);
    }
  }

  /** One line for each fault of the first faulty rows. */
  get lines(): string[] {
    const more = this.rows.size - ROWS_SHOWN_MAX;
    return more > 0 ? [...this.#lines, `  and faults in ${more} more rows`] : this.#lines;
  }
}
