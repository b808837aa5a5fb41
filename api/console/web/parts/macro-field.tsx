import { type ReactElement, useRef } from "react";
import { TextField } from "./text-field.tsx";

/** One line of text with the macros that it may use. A press puts one where the cursor was. */
export function MacroField({
  macros,
  value,
  onChange,
  ...field
}: {
  readonly macros: readonly string[];
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
  readonly required?: boolean | undefined;
  readonly onChange: (value: string) => void;
}): ReactElement {
  // Undefined until the cursor was in the field: then it goes to the end.
  const selected = useRef<readonly [from: number, to: number]>(undefined);
  const insert = (name: string): void => {
    const text = `{${name}}`;
    const [from, to] = selected.current ?? [value.length, value.length];
    onChange(value.slice(0, from) + text + value.slice(to));
    selected.current = [from + text.length, from + text.length];
  };
  return (
    <div className="stack tight">
      <TextField
        {...field}
        value={value}
        onChange={onChange}
        onSelect={({ currentTarget: { selectionStart: from, selectionEnd: to } }) => {
          if (from !== null && to !== null) selected.current = [from, to];
        }}
      />
      <details className="group-field">
        <summary>Insert a macro</summary>
        <div className="macro-list" role="group" aria-label={`Macros for ${field.label}`}>
          {macros.map((name) => (
            <button key={name} type="button" className="button mono" onClick={() => insert(name)}>
              {`{${name}}`}
            </button>
          ))}
        </div>
        <a href="/docs/macros" target="_blank" rel="noreferrer">
          What each macro says
        </a>
      </details>
    </div>
  );
}
