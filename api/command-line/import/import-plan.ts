import type { FieldKind } from "../field-values.ts";
import type { ImportFile } from "./file-rows.ts";
import type { ImportRecord } from "./import-record.ts";
import type { ImportedKind } from "./imported-row.ts";

/** Options of an import. */
export type ImportPlan = {
  readonly kind: ImportedKind;
  readonly file: ImportFile;
  /** Kinds of the fields that a row may have. */
  readonly fieldKinds: ReadonlyMap<string, FieldKind>;
  /** Change existing records instead of refusing them. */
  readonly isUpdate: boolean;
  /** Leave faulty rows out instead of stopping. */
  readonly skipsFaulty: boolean;
  readonly record: ImportRecord;
  /** The last row that an earlier run of the same file has done; 0 if there was none. */
  readonly doneUpTo: number;
  readonly interruption: AbortSignal;
};
