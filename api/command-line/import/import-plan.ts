import type { FieldKind } from "../field-values.ts";
import type { ImportFile } from "./file-rows.ts";
import type { ImportRecord } from "./import-record.ts";
import type { ImportedKind } from "./imported-row.ts";

/** What an import was asked for. */
export type ImportPlan = {
  readonly kind: ImportedKind;
  readonly file: ImportFile;
  /** Of the fields that a row may have. */
  readonly fieldKinds: ReadonlyMap<string, FieldKind>;
  /** Records that are there are changed instead of refused. */
  readonly isUpdate: boolean;
  /** Faulty rows are left out instead of stopping everything. */
  readonly skipsFaulty: boolean;
  readonly record: ImportRecord;
  /** The last row of an earlier run of the same file; 0 without one. */
  readonly doneUpTo: number;
  readonly interruption: AbortSignal;
};
