import { type FormEvent, type ReactElement, useState } from "react";
import { Problem } from "../client/problem.ts";
import { AreaField } from "../parts/area-field.tsx";
import { type Choice, ChoiceField } from "../parts/choice-field.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";

/** A field of a record, with the name that the API gives it. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  /** `many` is a list of some of the choices. */
  readonly kind?: "area" | "number" | "list" | "many" | "new-password" | undefined;
  readonly choices?: readonly Choice[] | undefined;
  readonly hint?: string | undefined;
  readonly required?: boolean | undefined;
};

/** Values as they are sent: texts, numbers and lists of texts. */
export type FormBody = Readonly<Record<string, string | number | readonly string[]>>;

/**
 * A form for some fields of a record. Only what was changed is sent. Faults that the API finds stand at their fields, and nothing that was
 * typed is lost.
 */
export function RecordForm({
  fields,
  initial = {},
  submit,
  onSubmit,
}: {
  readonly fields: readonly FormField[];
  /** What stands in the fields at the beginning, such as the record. */
  readonly initial?: object;
  /** The word on the button. */
  readonly submit: string;
  readonly onSubmit: (body: FormBody) => Promise<unknown>;
}): ReactElement {
  const values = new Map<string, unknown>(Object.entries(initial));
  const before = Object.fromEntries(fields.map(({ name }) => [name, textOf(values.get(name))]));
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(before);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const faults = error instanceof Problem ? error.fields : {};
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    try {
      await onSubmit(bodyOf(fields, texts, before));
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void send(event)} noValidate>
      {error !== undefined && <ProblemNotice error={error} />}
      {fields.map((field) => (
        <FormControl
          key={field.name}
          field={field}
          value={texts[field.name] ?? ""}
          fault={faults[field.name]}
          onChange={(value) => setTexts({ ...texts, [field.name]: value })}
        />
      ))}
      <OtherFaults faults={faults} known={fields} />
      <div className="row">
        <button type="submit" className="button first" disabled={isSending}>
          {submit}
        </button>
      </div>
    </form>
  );
}

function FormControl({
  field: { label, kind, choices, hint, required },
  value,
  fault,
  onChange,
}: {
  readonly field: FormField;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}): ReactElement {
  const shared = { label, value, fault, onChange };
  if (choices !== undefined && kind === "many") return <CheckList {...shared} choices={choices} />;
  if (choices !== undefined) return <ChoiceField {...shared} choices={choices} />;
  if (kind === "area") return <AreaField {...shared} />;
  const input =
    kind === "new-password"
      ? ({ type: "password", autoComplete: "new-password" } as const)
      : { inputMode: kind === "number" ? ("numeric" as const) : undefined };
  return <TextField {...shared} {...input} hint={hint} required={required} />;
}

function CheckList({
  label,
  value,
  choices,
  fault,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}): ReactElement {
  const chosen = listIn(value);
  const toggle = (name: string): void =>
    onChange(
      (chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]).join(", "),
    );
  return (
    <fieldset className="field">
      <legend className="label">{label}</legend>
      {choices.map(([name, words]) => (
        <label key={name} className="row">
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
          {words}
        </label>
      ))}
      {fault !== undefined && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}

/** Faults of fields that this form does not have, such as `events[0].payout`. */
function OtherFaults({
  faults,
  known,
}: {
  readonly faults: Readonly<Record<string, string>>;
  readonly known: readonly FormField[];
}): ReactElement | null {
  const names = new Set(known.map(({ name }) => name));
  const others = Object.entries(faults).filter(([name]) => !names.has(name));
  if (others.length === 0) return null;
  return (
    <ul className="fault-list">
      {others.map(([name, fault]) => (
        <li key={name}>
          <code>{name}</code>: {fault}
        </li>
      ))}
    </ul>
  );
}

function bodyOf(
  fields: readonly FormField[],
  texts: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): FormBody {
  const changed = fields.filter(({ name }) => texts[name] !== before[name]);
  return Object.fromEntries(
    changed.map(({ name, kind }) => [name, valueOf(texts[name] ?? "", kind)]),
  );
}

/** A text that is no number is sent as it is, so that the API says what it expects. */
function valueOf(text: string, kind: FormField["kind"]): string | number | readonly string[] {
  if (kind === "number" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (kind !== "list" && kind !== "many") return text;
  return listIn(text);
}

function listIn(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
