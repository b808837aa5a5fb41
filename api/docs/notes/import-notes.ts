import type { Notes } from "./notes.ts";

/** Fields that other records have with another meaning. */
const OF_IMPORT: Notes = {
  kind: "What each row of the file is",
  name: "Name of the file, as the sender gave it; it may be empty",
  format: "`json` also stands for JSON lines",
  delimiter: "What separates the cells of CSV: one character, or `tab`",
  status:
    "`queued` until a process has time for it, `checking`, then `writing`. It ends as `done`, `refused` (faults, and this import has written " +
    "nothing), `failed` (in the middle) or `stopped`",
  message: "Why it has ended in another way than `done`, and what to do; else empty",
  created_at: "When the file began to arrive",
};

export const IMPORT_NOTES: Notes = {
  ...Object.fromEntries(
    Object.entries(OF_IMPORT).flatMap(([field, note]) => [
      [`Import.${field}`, note],
      [`ImportWithFaults.${field}`, note],
    ]),
  ),
  dry_run: "Whether the file is only checked",
  update: "Whether existing records are changed",
  skip_faulty: "Whether faulty rows are left out, instead of nothing being written",
  bytes: "Size of the file",
  rows_checked: "Rows that the check has read so far",
  rows_faulty: "Rows with faults so far",
  rows_to_create: "Rows without faults whose records do not exist, as the check found them",
  rows_to_update: "Rows without faults whose records exist, as the check found them",
  rows_already_written: "Rows that an earlier import of the same file has written",
  rows_created: "Records created so far",
  rows_updated: "Records changed so far, also those that already were as their row says",
  rows_left_out: "Faulty rows that were left out so far",
  created_by: "Name of the key or the person that sent the file",
  started_at: "When a process first had time for it; null until then",
  ended_at: "When it ended; null while it goes on",
  "ImportWithFaults.faults":
    "What is wrong with the rows, for the first 200 faulty ones, with at most 20 faults each",
  "ImportFault.row":
    "Counted as in a spreadsheet, where the header is row 1; in JSON the first record is 1",
  "ImportFault.field":
    "The field, nested ones as `events[0].payout`; empty if the row as a whole is wrong",
  "ImportFault.message": "What is wrong",
  "createImport.?kind": "What each row of the file is",
  "createImport.?format":
    "`json` also stands for JSON lines. By default what the extension of `name` says",
  "createImport.?delimiter": "What separates the cells of CSV: one character, or `tab`",
  "createImport.?name": "Name of the file, to be shown",
  "listImports.?kind": "Imports of this kind only",
};
