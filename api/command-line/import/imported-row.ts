import type { FieldFaults, Operation, OperationContext } from "../../operation.ts";
import type { CalledWith } from "../session.ts";
import type { FileRow } from "./file-rows.ts";

/** A row of a file, looked up: what has to be called for it. */
export type ImportedRow = {
  readonly number: number;
  /** What it is known by: a code, of an advertiser its name, in lower case. Undefined without one. */
  readonly key: string | undefined;
  /** The record that has the key already. */
  readonly id: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** Codes of partners that are to have access. */
  readonly partners: readonly string[];
  /** What the look-up found wrong; field to fault. */
  readonly faults: FieldFaults;
};

/**
 * Calls an operation of the API for a row, or only asks it for faults. Answers the id of the record, undefined where nothing
 * was called. Fields of faults get the prefix.
 */
export type Caller = (
  operation: Operation,
  given: CalledWith,
  prefix?: string,
) => Promise<number | undefined>;

/** A kind of record that files bring. */
export type ImportedKind = {
  readonly noun: string;
  readonly plural: string;
  /** The field that a record is known by. */
  readonly keyField: "code" | "name";
  readonly create: Operation;
  /** Fields that a row may have besides those of the body, each with the field of the body that it stands for. */
  readonly extras: Readonly<Record<string, string | undefined>>;
  /** Ids of the records that have one of the keys, in any order. */
  readonly findByKeys: (
    context: OperationContext,
    keys: readonly string[],
  ) => Promise<readonly { readonly id: number; readonly key: string }[]>;
  /** Puts ids for names in some rows at once, and takes the fields out that the body has not. */
  readonly resolve: (context: OperationContext, rows: readonly FileRow[]) => Promise<ResolvedRow[]>;
  /** Calls what creates or changes the record of a row. */
  readonly apply: (context: OperationContext, row: ImportedRow, call: Caller) => Promise<void>;
};

export type ResolvedRow = Pick<ImportedRow, "number" | "body" | "partners" | "faults">;
