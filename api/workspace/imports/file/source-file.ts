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
