const CSV = "text/csv";
/** Without it a spreadsheet takes UTF-8 for an older encoding. */
const BYTE_ORDER_MARK = "\uFEFF";

/** Saves parts as a file of this name, as a download. */
export function saveFile(name: string, parts: readonly BlobPart[], type = CSV): void {
  const link = document.createElement("a");
  const all = type === CSV ? [BYTE_ORDER_MARK, ...parts] : [...parts];
  link.href = URL.createObjectURL(new Blob(all, { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
