import type { Pool, Queryable } from "../../../../schemas/postgres/connect.ts";
import type { FieldKind } from "../../../http/field-values.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import type { ImportProgress } from "./import-progress.ts";
import type { ImportRecord } from "./import-record.ts";
import type { ImportedKind } from "./imported-row.ts";
import type { ImportFile } from "./source-file.ts";

/** The context of whoever imports. */
export type ImportCaller = {
  readonly context: OperationContext;
  /** The same context over another pool, such as a transaction's. */
  readonly contextOn: (db: Pool) => OperationContext;
};

/** The words in which a message names an option. */
export type OptionWords = {
  /** Changes existing records. */
  readonly update: string;
  /** Leaves faulty rows out. */
  readonly skipFaulty: string;
  /** Sets another delimiter, whose name is given. */
  readonly delimiter: (name: string) => string;
};

/** How a file is imported. */
export type ImportPlan = {
  readonly kind: ImportedKind;
  readonly file: ImportFile;
  /** Kinds of the fields that a row may have. */
  readonly fieldKinds: ReadonlyMap<string, FieldKind>;
  /** Check the file and write nothing. */
  readonly isDryRun: boolean;
  /** Change existing records instead of refusing them. */
  readonly isUpdate: boolean;
  /** Leave faulty rows out instead of stopping. */
  readonly skipsFaulty: boolean;
  /** With so many faulty rows a check ends, unless they are left out: a faulty row costs much more than its text (G213). */
  readonly faultyRowsMax?: number;
  /** Faulty rows whose faults are kept. */
  readonly keptRowsMax: number;
  readonly words: OptionWords;
  /** Asked before each batch of rows and each transaction, because rights may change meanwhile. */
  readonly caller: () => Promise<ImportCaller>;
  readonly record: ImportRecord;
  /** Awaited after each batch of rows. */
  readonly onProgress: (progress: ImportProgress) => void | Promise<void>;
  /** Awaited last in each transaction that writes rows, with the progress after its commit. Throws if this run may not write any more. */
  readonly onWrite?: (tx: Queryable, progress: ImportProgress) => Promise<void>;
  readonly interruption: AbortSignal;
};
