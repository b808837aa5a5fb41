import type { Pool, Queryable } from "../../../../schemas/postgres/connect.ts";
import type { FieldKind } from "../../../http/field-values.ts";
import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import type { ImportedKind } from "./imported-row.ts";

export const FILE_FORMATS = ["csv", "json"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

export type ImportFile = {
  /** What messages call it, such as its path. */
  readonly name: string;
  readonly format: FileFormat;
  /** Separates the cells of CSV. */
  readonly delimiter: string;
  /** The content, read anew from the start by each call. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
};

/** The context of whoever imports. */
export type ImportCaller = {
  readonly context: OperationContext;
  /** The same context over another pool, such as that of a transaction. */
  readonly contextOn: (db: Pool) => OperationContext;
};

/** Rows that one transaction has written or refused. */
export type WrittenPart = {
  readonly first: number;
  readonly last: number;
  readonly created: number;
  readonly updated: number;
  /** Rows up to `last`, after those of the part before, that are left out because of faults. */
  readonly leftOut: number;
  /** Those of them that were refused only now. */
  readonly refused: readonly RefusedRow[];
};

export type RefusedRow = { readonly number: number; readonly faults: FieldFaults };

/** Notes progress in the transactions that write rows. */
export type RunRecord = {
  /** Called first in each transaction. Throws if this run may not write any more. */
  readonly begin: (tx: Queryable, context: OperationContext) => Promise<void>;
  /** Called last in each transaction. After its commit `hasNoted` gets the result. */
  readonly note: (tx: Queryable, context: OperationContext, part: WrittenPart) => Promise<number>;
  readonly hasNoted: (note: number) => void;
};

/** The words in which a message names an option. */
export type OptionWords = {
  /** Changes existing records. */
  readonly update: string;
  /** Sets another delimiter, whose name is given. */
  readonly delimiter: (name: string) => string;
};

/** How a file is imported. */
export type ImportPlan = {
  readonly kind: ImportedKind;
  readonly file: ImportFile;
  /** Kinds of the fields that a row may have. */
  readonly fieldKinds: ReadonlyMap<string, FieldKind>;
  /** Change existing records instead of refusing them. */
  readonly isUpdate: boolean;
  /** Leave faulty rows out instead of stopping. */
  readonly skipsFaulty: boolean;
  /** With so many faulty rows a check ends, unless they are left out: a faulty row costs much more than its text (G213). */
  readonly faultyRowsMax?: number;
  readonly words: OptionWords;
  /** Asked before each batch of rows and each transaction, because rights may change meanwhile. */
  readonly caller: () => Promise<ImportCaller>;
  readonly record: RunRecord;
  /** The last row that an earlier run of the same file has done; 0 if there was none. */
  readonly doneUpTo: number;
  /** The last row that this import has written or left out before it was interrupted; 0 if it has just begun. */
  readonly handledUpTo: number;
  /** Rows that are looked up together. */
  readonly batchRows: number;
  /** When a transaction ends, at the row after. Writers of the catalog wait 2 s for one lock, so stay far below that. */
  readonly transactionMs: number;
  /** Awaited after each row: lets other work have its turn. */
  readonly pace: () => Promise<void>;
  readonly interruption: AbortSignal;
};
