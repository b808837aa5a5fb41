import { FileFault } from "../imports/file/file-fault.ts";
import { storableText } from "../imports/stored-faults.ts";
import { fieldOfColumn, UPDATE_FIELDS, type UpdateField } from "./column-names.ts";

/** Names of columns of a file with the fields that they stand for; "" for columns that are not read. */
export type Columns = Readonly<Record<string, UpdateField | "">>;

/** Fields that name a conversion. */
const NAMING: readonly UpdateField[] = ["conversion_id", "txid", "click_id"];
const COLUMNS_MAX = 200;
const NAME_MAX = 100;

/** The fields that the columns of a file stand for: what the sender said about a column, else what its name suggests. */
export class RecognisedColumns {
  readonly #given: ReadonlyMap<string, UpdateField | "">;
  readonly #found = new Map<string, UpdateField | "">();

  constructor(given: Columns) {
    this.#given = new Map(Object.entries(given).map(([name, field]) => [name.trim(), field]));
  }

  /** The fields of all columns so far. */
  get columns(): Columns {
    return Object.fromEntries(
      [...this.#found].map(([name, field]) => [storableText(name, NAME_MAX), field]),
    );
  }

  /** @throws {FileFault} for a file with very many columns. */
  fieldOf(column: string): UpdateField | "" {
    const found = this.#found.get(column);
    if (found !== undefined) return found;
    if (this.#found.size === COLUMNS_MAX)
      throw new FileFault(`The file has more than ${COLUMNS_MAX} columns.`);
    const field = this.#given.get(column) ?? this.#guessed(column);
    this.#found.set(column, field);
    return field;
  }

  /** @throws {FileFault} for a record with a field twice. */
  fieldsOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(record)) {
      const field = this.fieldOf(name.trim());
      if (field !== "") fields[field] = value;
    }
    return fields;
  }

  /** @throws {FileFault} if no column names a conversion. */
  check(): void {
    const fields = new Set(this.#found.values());
    if (NAMING.some((field) => fields.has(field))) return;
    throw new FileFault(
      `No column names a conversion. Known columns: ${UPDATE_FIELDS.join(", ")}; usual names of them are recognised.`,
    );
  }

  /** The first column that stands for a field has it: an export may have "Order ID" and "Transaction ID". */
  #guessed(column: string): UpdateField | "" {
    const field = fieldOfColumn(column);
    const taken = [...this.#found.values(), ...this.#given.values()];
    return field !== "" && taken.includes(field) ? "" : field;
  }
}
