import type { Notes } from "./notes.ts";

/** Fields of files of confirmed conversions that other records have with another meaning. */
const OF_UPDATE: Notes = {
  name: "Name of the file, as the sender gave it; it may be empty",
  status:
    "`checking`, then `checked` until somebody applies it, `applying`, then `done`; `undoing`, then `undone`. `stopped` by somebody, `failed` after " +
    "repeated errors of the service",
  message: "Why it was stopped or has failed; else empty",
  columns:
    "Names of the columns and the fields that they stand for; empty for a column that is not read",
  offer_ids: "The offers that the file is about, as its sender said",
  missing: "Whether conversions that the file does not name are rejected",
  from: "From when on conversions are missing if the file does not name them",
  to: "Until when, this moment excluded",
  rows: "Number of the last row; a header row is row 1",
  rows_done: "The last row that the present step has done",
  counts: "Rows by what they do, or have done",
  created_at: "When the file began to arrive",
  applied_at: "When somebody applied it; null before",
  ended_at: "When it was done, undone, stopped, or failed; null before",
};

export const UPDATE_NOTES: Notes = {
  ...Object.fromEntries(
    Object.entries(OF_UPDATE).flatMap(([field, note]) => [
      [`ConversionUpdate.${field}`, note],
      [`ConversionUpdateWithSums.${field}`, note],
    ]),
  ),
  "counts.changed": "Rows that change their conversion, also for missing conversions",
  "counts.unchanged": "Rows whose conversion is so already",
  "counts.unknown": "Rows that name no conversion of the workspace",
  "counts.refused": "Rows with faults",
  "counts.duplicate_row": "Rows that name a conversion which an earlier row names",
  "counts.undone": "Rows whose conversion was restored",
  "counts.kept": "Rows whose conversion was not restored, because somebody has changed it since",
  "counts.missing": "How many of these rows stand for conversions that the file does not name",
  sums: "What approved conversions of the file earn and charge before and after it",
  "ConversionUpdateSum.affiliate_id": "The partner; null for conversions without one",
  "ConversionUpdateSum.affiliate_name": "Name of the partner",
  "ConversionUpdateSum.currency": "ISO 4217 code of the amounts",
  "ConversionUpdateSum.rows": "Conversions that the file names",
  payout_before: "What the partner gets for them before",
  payout_after: "What the partner gets for them after",
  revenue_before: "What advertisers owe for them before",
  revenue_after: "What advertisers owe for them after",
  "ConversionUpdateRow.row":
    "Counted as in a spreadsheet, where the header is row 1; missing conversions follow the last row",
  is_missing: "Whether it stands for a conversion that the file does not name",
  "ConversionUpdateState.status": "Its status",
  "ConversionUpdateState.status_reason": "Why it has this status",
  outcome: "What the row does, or has done; null before it is checked",
  "ConversionUpdateRow.conversion_id": "The conversion that it names; null if none is found",
  "ConversionUpdateRow.fields": "What the row says, as it was read",
  faults: "What is wrong with it: field to text",
  before: "The conversion before; null if the row names none",
  after: "The conversion after; null if the row names none",
  "listConversionUpdates.?status": "Files in this state only",
  "listConversionUpdateRows.?outcome": "Rows with this outcome only",
  "createConversionUpdate.?name": "Name of the file, to be shown",
};
