import type { CalledWith } from "../../../http/call-operation.ts";
import { type FieldKind, fieldKinds } from "../../../http/field-values.ts";
import type { FieldFaults, Operation, OperationContext } from "../../../operation/operation.ts";
import type { FileRow } from "./file-row.ts";

/** A row of a file after `resolve` and `findByKeys`. */
export type ImportedRow = {
  readonly number: number;
  /** The code, or for an advertiser the name, in the lower case of Postgres. Undefined if the row has none. */
  readonly key: string | undefined;
  /** The record that already has this key. */
  readonly id: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** Codes of the partners that get access to the offer. */
  readonly partners: readonly string[];
  /** Settings of the offer that have an operation of their own. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Faults that `resolve` found, by field. */
  readonly faults: FieldFaults;
};

/**
 * Calls an operation of the API for a row and returns the id of its record. While the file is checked, it only asks the operation for
 * faults, and returns the id of the existing record, if any. Field names in faults begin with `prefix`.
 */
export type Caller = (
  operation: Operation,
  given: CalledWith,
  prefix?: string,
) => Promise<number | undefined>;

/** A kind of record that files can contain. */
export type ImportedKind = {
  readonly noun: string;
  readonly plural: string;
  /** The field by which records are matched. */
  readonly keyField: "code" | "name";
  readonly create: Operation;
  /** Fields that a row may have in addition to the body's, each with the body field that it replaces. */
  readonly extras: Readonly<Record<string, string | undefined>>;
  /** Ids of the records that have one of the keys, in any order. */
  readonly findByKeys: (
    context: OperationContext,
    keys: readonly string[],
  ) => Promise<readonly { readonly id: number; readonly key: string }[]>;
  /** Replaces names with ids in a batch of rows, and removes fields that the body does not have. */
  readonly resolve: (context: OperationContext, rows: readonly FileRow[]) => Promise<ResolvedRow[]>;
  /** Calls the operations that create or change the record of a row. */
  readonly apply: (context: OperationContext, row: ImportedRow, call: Caller) => Promise<void>;
};

export type ResolvedRow = Pick<ImportedRow, "number" | "body" | "partners" | "settings" | "faults">;

const TEXT_KIND: FieldKind = { type: "text", isNullable: false };
const LIST_KIND: FieldKind = { type: "list", isNullable: false };

/** Kinds of the fields that a row may have, in the order of the columns in texts. */
export function fieldKindsOf({ create, extras }: ImportedKind): ReadonlyMap<string, FieldKind> {
  return new Map([
    ...fieldKinds(create.input.body),
    ...Object.entries(extras).map(([extra, field]): [string, FieldKind] => [
      extra,
      field === undefined ? LIST_KIND : TEXT_KIND,
    ]),
  ]);
}
