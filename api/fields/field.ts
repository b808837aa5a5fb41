import { z } from "zod";
import type { Role } from "../operation/permissions.ts";

/** How the console asks for a field. */
export type FieldForm = {
  /** The fields of a part are asked for together, in the order of the record. */
  readonly part: string;
  readonly label: string;
  /** One line of text or one of the `choices` without it. `address`: shown as a link. */
  readonly kind?: "address" | "area" | "flag" | "list" | "number";
  /** Words for each value. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly hint?: string;
};

type Options<Value> = {
  /** What answers show. A field without it belongs to the record's settings, whose answers show it. */
  readonly shown?: z.ZodType;
  /** A new record must have it. */
  readonly required?: true;
  /** Value of a new record whose body leaves the field out. A field that has neither is computed. */
  readonly unset?: Value;
  /** Every other role that reaches the record sees the field. */
  readonly hiddenFrom?: readonly Role[];
  /** What it means, for the OpenAPI document. Without it the note of its name in docs/notes applies. */
  readonly note?: string;
  /** Without it the console has a control of its own for the field, or none. */
  readonly form?: FieldForm;
  /** Value in the sample of a webhook; `unset` by default. */
  readonly sample?: Value;
};

/** Describes a field of a record. Its column in Postgres has the same name. */
export type Field<Body extends z.ZodType = z.ZodType> = { readonly body: Body } & Options<
  z.output<Body>
>;

/** The fields of a record, by name. */
export type Fields = Readonly<Record<string, Field>>;

/** A field whose body has this schema. */
export function field<Body extends z.ZodType, const Given extends Options<z.output<Body>>>(
  body: Body,
  options: Given,
): { readonly body: Body } & Given {
  return { body, ...options };
}

type TextOptions = Omit<Options<string>, "shown" | "required" | "unset">;

/** A field with a text that may be empty. */
export function textField<Body extends z.ZodType<string>>(
  body: Body,
  options: TextOptions = {},
): { readonly body: Body; readonly shown: z.ZodString; readonly unset: "" } & TextOptions {
  return { body, shown: z.string(), unset: "", ...options };
}

/** Names of the fields that say this of themselves. */
type NamesWith<Of extends Fields, Key extends "shown" | "required" | "unset"> = {
  [Name in keyof Of]: Of[Name] extends Readonly<Record<Key, unknown>> ? Name : never;
}[keyof Of];

/** Schemas of the fields that a body may have. */
export function bodyShape<Of extends Fields>(
  fields: Of,
): { readonly [Name in keyof Of]: Of[Name]["body"] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name keeps its own schema
  return mapped(fields, ({ body, note }) => described(body, note)) as {
    [Name in keyof Of]: Of[Name]["body"];
  };
}

/** Schemas of the fields that a new record must have. */
export function requiredShape<Of extends Fields>(
  fields: Of,
): { readonly [Name in NamesWith<Of, "required">]: Of[Name]["body"] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name keeps its own schema
  return mapped(fields, ({ body, required, note }) => required && described(body, note)) as {
    [Name in NamesWith<Of, "required">]: Of[Name]["body"];
  };
}

/** Schemas of the fields that answers show. */
export function shownShape<Of extends Fields>(
  fields: Of,
): { readonly [Name in NamesWith<Of, "shown">]: NonNullable<Of[Name]["shown"]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name keeps its own schema
  return mapped(fields, ({ shown, note }) => shown && described(shown, note)) as {
    [Name in NamesWith<Of, "shown">]: NonNullable<Of[Name]["shown"]>;
  };
}

/** Values of the fields that a body leaves out. */
export function unsetValues<Of extends Fields>(
  fields: Of,
): { readonly [Name in NamesWith<Of, "unset">]: z.output<Of[Name]["body"]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name keeps its own value
  return mapped(fields, ({ unset }) => unset) as {
    [Name in NamesWith<Of, "unset">]: z.output<Of[Name]["body"]>;
  };
}

/** Names of the fields in answers that the role does not see. */
export function hiddenNames(fields: Fields, role: Role): string[] {
  return shownNames(fields).filter((name) => fields[name]?.hiddenFrom?.includes(role) === true);
}

/** Names of the fields in answers. */
export function shownNames(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.shown !== undefined);
}

/** The fields of a record as the sample of a webhook shows them. */
export function sampleValues(fields: Fields): Readonly<Record<string, unknown>> {
  return mapped(fields, ({ shown, sample, unset }) => shown && (sample ?? unset));
}

/** A field of a form, as the console takes it (console/web/records/form-field.ts). */
type FormField = Omit<FieldForm, "part" | "choices"> & {
  readonly name: string;
  readonly choices?: readonly (readonly [value: string, words: string])[];
  readonly required?: true;
};

/** The fields that the console asks for, by part. */
export function formParts(fields: Fields): Readonly<Record<string, readonly FormField[]>> {
  const parts: Record<string, FormField[]> = {};
  for (const [name, { form, required }] of Object.entries(fields)) {
    if (form === undefined) continue;
    const { part, choices, ...rest } = form;
    const named = choices && { choices: Object.entries(choices) };
    parts[part] = [
      ...(parts[part] ?? []),
      { name, ...rest, ...named, ...(required && { required }) },
    ];
  }
  return parts;
}

/** What a form of a new record begins with: what the API would take for a field that is left out. */
export function formStart(fields: Fields): Readonly<Record<string, unknown>> {
  const isChosen = ({ choices, kind }: FieldForm): boolean =>
    choices !== undefined || kind === "flag" || kind === "number";
  return mapped(fields, ({ form, unset }) => (form && isChosen(form) ? unset : undefined));
}

/** Leaves out fields for which there is no value. */
function mapped(
  fields: Fields,
  valueOf: (field: Field) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, one]) => [name, valueOf(one)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

function described(schema: z.ZodType, note: string | undefined): z.ZodType {
  return note === undefined ? schema : schema.describe(note);
}
