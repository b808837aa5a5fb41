import type { FileFormat } from "./file/import-plan.ts";
import type { ImportKind } from "./imported-kinds.ts";

/** An import in one of these goes on. */
const OPEN_STATUSES = ["queued", "checking", "writing"] as const;
/**
 * How an import ends. `refused`: the file or its rows have faults, and this import has written nothing. `failed`: in the middle. `stopped`: by
 * somebody, or because its sender has lost the right to it.
 */
const ENDED_STATUSES = ["done", "refused", "failed", "stopped"] as const;
export const SHOWN_STATUSES = [...OPEN_STATUSES, ...ENDED_STATUSES] as const;
export type EndedStatus = (typeof ENDED_STATUSES)[number];

/** A fault of a row, or of a field of it. */
export type StoredFault = {
  readonly row: number;
  /** "" for the row as a whole. */
  readonly field: string;
  readonly message: string;
};

/** An import with the names of its answer. */
export type StoredImport = {
  id: number;
  kind: ImportKind;
  name: string;
  format: FileFormat;
  delimiter: string;
  dry_run: boolean;
  update: boolean;
  skip_faulty: boolean;
  status: (typeof SHOWN_STATUSES)[number];
  message: string;
  bytes: number;
  faults: readonly StoredFault[];
  rows_checked: number;
  rows_faulty: number;
  rows_to_create: number;
  rows_to_update: number;
  rows_already_written: number;
  rows_created: number;
  rows_updated: number;
  rows_left_out: number;
  created_by: string;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
};
