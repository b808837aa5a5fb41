import type { FileFormat } from "./file/source-file.ts";
import type { ImportKind } from "./imported-kinds.ts";

/**
 * The states of an import, and what leads from one to the next. Every statement that changes a state asks for the one before.
 *
 * - `uploading` (not shown): the file arrives. Whole: `queued`. Cut: deleted at once, or 15 minutes later if the process was killed.
 * - `queued`: waits for a process. The oldest one that is due is begun: `checking`.
 * - `checking`: a run reads the file from its start and writes nothing. No faults, or they are left out: `writing`. A check only: `done`. Faults:
 *   `refused`. A run that follows another one begins here, too.
 * - `writing`: rows are written in transactions of 0.2 s, each with its note in the audit log and in the import, all or nothing. At the end: `done`.
 *   A row is refused that the check did not: left out, or `failed`.
 * - `done`, `refused`, `failed`, `stopped`: ended. The file is deleted, and 30 days later the import.
 *
 * A run ends without its import when its process is killed (nothing is noted for 15 s), ends in order, or fails, or when Postgres is away. The import
 * keeps its state until the next run begins, in any process. That run leaves rows as they are that the notes in the audit log name. Five runs without
 * a row written: `failed`. `stopped` follows any state that is not ended, by somebody, or because the sender has lost the right. A run whose import
 * was stopped or is run by another process finds its token gone and writes nothing.
 */
const OPEN_STATUSES = ["queued", "checking", "writing"] as const;
/** `refused`: this import has written nothing. `failed`: in the middle. */
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
