/** One record of a file. */
export type FileRow = {
  /** Counted as in a spreadsheet, where the header is row 1; in JSON the first record is 1. */
  readonly number: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fault of the row as a whole. */
  readonly fault?: string;
};
