import type { RowFaults } from "./file/fault-list.ts";
import type { StoredFault } from "./stored-import.ts";

/** A field may be a name of the file, of any length. */
const FIELD_MAX = 200;
const MESSAGE_MAX = 500;
const REPLACEMENT = "\uFFFD";
/** With `u`, halves of a pair match only where the other half is missing. */
const LONE_SURROGATE = /[\ud800-\udfff]/gu;

/** Faults as an import stores and answers them. */
export function storedFaults(rows: readonly RowFaults[]): StoredFault[] {
  return rows.flatMap(({ row, faults, more }) => [
    ...faults.map(([field, message]) => ({
      row,
      field: storableText(field, FIELD_MAX),
      message: storableText(message, MESSAGE_MAX),
    })),
    ...(more > 0 ? [{ row, field: "", message: `has ${more} more faults` }] : []),
  ]);
}

/** The text in a form that Postgres stores: texts of a file may contain NUL and halves of surrogate pairs. */
export function storableText(text: string, charactersMax: number): string {
  const cut = text.length > charactersMax ? `${text.slice(0, charactersMax - 1)}…` : text;
  return cut.replaceAll("\0", REPLACEMENT).replaceAll(LONE_SURROGATE, REPLACEMENT);
}
