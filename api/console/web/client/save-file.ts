/** Saves parts as a file of this name, as a download. */
export function saveFile(name: string, parts: readonly BlobPart[], type = "text/csv"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
