import { faultWords } from "../client/fault-words.ts";
import type { FormField, FormValue, RecordBody } from "./form-field.ts";

/**
 * What stands in a form while it is edited. Leaves are texts, flags or lists of IDs. Names that no field knows ride along, so that
 * saving a group does not remove what a newer release has put there.
 */
export type Draft = Readonly<Record<string, unknown>>;

const INSTANT_LENGTH = "2026-11-25T10:00".length;
const NUMBER = /^-?\d{1,15}(\.\d{1,6})?$/;

/** The values of a record as a form shows them. */
export function draftOf(fields: readonly FormField[], record: unknown): Draft {
  const values = groupIn(record);
  return {
    ...values,
    ...Object.fromEntries(
      fields.map((field) => [field.name, fieldDraft(field, values[field.name])]),
    ),
  };
}

function fieldDraft(field: FormField, value: unknown): unknown {
  switch (field.kind) {
    case "group":
      return draftOf(field.fields ?? [], value);
    case "rows":
      return rowsIn(value).map((row) => draftOf(field.fields ?? [], row));
    case "flag":
      return value === true;
    case "records":
      return rowsIn(value).map(String);
    case "lists":
    case "texts":
      return Object.entries(groupIn(value)).map(([name, texts]) => ({ name, text: textIn(texts) }));
    case "time":
      return textIn(value).slice(0, INSTANT_LENGTH);
    case "lines":
      return rowsIn(value).map(textIn).join("\n");
    case "address":
    case "area":
    case "number":
    case "list":
    case "list-numbers":
    case "many":
    case "many-numbers":
    case "new-password":
    case "record":
    case "day":
    case undefined:
      return textIn(value);
  }
}

/** The fields that were changed, in the form in which the API takes them. */
export function changedBody(fields: readonly FormField[], draft: Draft, before: Draft): RecordBody {
  const changed = fields.filter(
    ({ name }) => JSON.stringify(draft[name]) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(
    changed.map((field) => [field.name, valueOf(field, draft[field.name])]),
  );
}

function valueOf(field: FormField, draft: unknown): FormValue {
  switch (field.kind) {
    case "group":
      return groupValue(field, draft);
    case "rows":
      return rowsIn(draft).map(
        (row) => groupValue({ ...field, isSparse: field.row?.isSparse }, row) ?? {},
      );
    case "flag":
      return draft === true;
    case "records":
      return rowsIn(draft).map((id) => numberOr(textIn(id)));
    case "lists":
    case "texts":
      return namedValue(field.kind, draft);
    case "lines":
      return textIn(draft)
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    case "list":
    case "many":
      return listIn(textIn(draft));
    case "list-numbers":
    case "many-numbers":
      return listIn(textIn(draft)).map(numberOr);
    case "address":
    case "area":
    case "number":
    case "new-password":
    case "record":
    case "day":
    case "time":
    case undefined:
      return leafValue(field, textIn(draft));
  }
}

/** A text that is no number or time is sent as it is, so that the API says what it expects. */
function leafValue({ kind, isNullable }: FormField, text: string): FormValue {
  if (text === "" && (isNullable === true || kind === "time")) return null;
  if (kind === "time" && text.length === INSTANT_LENGTH) return `${text}:00.000Z`;
  return kind === "number" || kind === "record" ? numberOr(text) : text;
}

function groupValue({ fields = [], isSparse, isNullable }: FormField, draft: unknown): FormValue {
  const all = fields.map(
    (field) => [field.name, valueOf(field, groupIn(draft)[field.name])] as const,
  );
  const kept = isSparse === true ? all.filter(([, value]) => !isEmpty(value)) : all;
  const known = new Set(fields.map(({ name }) => name));
  const others = Object.entries(groupIn(draft)).filter(([name]) => !known.has(name));
  const whole: RecordBody = {
    ...Object.fromEntries(others.map(asValue)),
    ...Object.fromEntries(kept),
  };
  return isNullable === true && Object.keys(whole).length === 0 ? null : whole;
}

function asValue([name, value]: readonly [string, unknown]): [string, FormValue] {
  return [name, isValue(value) ? value : null];
}

function isValue(value: unknown): value is FormValue {
  return value !== undefined && typeof value !== "function";
}

function namedValue(kind: "lists" | "texts", draft: unknown): FormValue {
  const rows = rowsIn(draft).map(groupIn);
  return Object.fromEntries(
    rows.map(({ name, text }) => [
      textIn(name),
      kind === "lists" ? listIn(textIn(text)) : textIn(text),
    ]),
  );
}

/** Whether nothing is set: no text, no list entry, no flag. */
export function isEmpty(value: unknown): boolean {
  if (value === "" || value === null || value === undefined || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}

/** Names of leaf fields, such as `rules[0].offers[1].offer_id`. */
export function leafPaths(fields: readonly FormField[], draft: Draft, prefix = ""): string[] {
  return fields.flatMap((field) => {
    const path = `${prefix}${field.name}`;
    const below = draft[field.name];
    if (field.kind === "group") return leafPaths(field.fields ?? [], groupIn(below), `${path}.`);
    if (field.kind !== "rows") return [path];
    return rowsIn(below).flatMap((row, index) =>
      leafPaths(field.fields ?? [], groupIn(row), `${path}[${index}].`),
    );
  });
}

/** What is missing before a form can be sent: each field with its own words. A group may be left out, so nothing in it is missing. */
export function missingFaults(
  fields: readonly FormField[],
  draft: Draft,
  prefix = "",
): Readonly<Record<string, string>> {
  const shown = fields.filter((field) => isWanted(field, draft));
  const found = shown.flatMap((field): readonly (readonly [string, string])[] => {
    const path = `${prefix}${field.name}`;
    const value = draft[field.name];
    if (field.kind === "rows")
      return rowsIn(value).flatMap((row, index) =>
        Object.entries(missingFaults(field.fields ?? [], groupIn(row), `${path}[${index}].`)),
      );
    const words = missingWords(field);
    return words !== undefined && textIn(value).trim() === "" ? [[path, words]] : [];
  });
  return Object.fromEntries(found);
}

/** Whether a field belongs to the form as it is now: some are only for one value of another field. */
export function isWanted({ onlyFor }: FormField, draft: Draft): boolean {
  return onlyFor === undefined || draft[onlyFor.name] === onlyFor.value;
}

function missingWords({
  kind,
  label,
  required,
  isNullable,
  choices,
}: FormField): string | undefined {
  // A record that may stay empty is nullable: only then it has the choice "None".
  const isChoice = kind === "record" || (kind === undefined && choices !== undefined);
  const isNeeded = required === true || (kind === "record" && isNullable !== true);
  const hasText =
    isChoice ||
    ["address", "area", "number", "day", "time", "new-password", undefined].includes(kind);
  if (!isNeeded || !hasText) return undefined;
  return `${isChoice ? "Choose" : "Enter"} the ${label.slice(0, 1).toLowerCase()}${label.slice(1)}`;
}

/** The fault of a leaf, or of one of its entries. */
export function faultOf(
  faults: Readonly<Record<string, string>>,
  path: string,
): string | undefined {
  const fault = Object.entries(faults).find(([name]) => isAt(name, path))?.[1];
  return fault === undefined ? undefined : faultWords(fault);
}

/** The fault of a group or list as a whole. */
export function wholeFault(
  faults: Readonly<Record<string, string>>,
  path: string,
): string | undefined {
  const fault = faults[path];
  return fault === undefined ? undefined : faultWords(fault);
}

export function isAt(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}[`) || name.startsWith(`${path}.`);
}

function numberOr(text: string): string | number {
  return NUMBER.test(text) ? Number(text) : text;
}

export function listIn(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

export function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export function groupIn(value: unknown): Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function rowsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
