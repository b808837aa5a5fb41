import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a small file. After a power cut it contains the old or the new text, and the new one once this has returned. */
export function writeDurably(file: string, text: string): void {
  const fresh = `${file}.new`;
  const descriptor = openSync(fresh, "w", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(fresh, file);
  syncFolder(dirname(file));
}

/** Makes names in a folder durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
