import { type ReactElement, useId } from "react";
import type { Choice } from "../client/choices.ts";
import { describedBy, Remarks } from "./remarks.tsx";

/** One of a few values, with its label. */
export function ChoiceField({
  label,
  value,
  choices,
  onChange,
  hint,
  fault,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
}): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className="select"
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={describedBy(id, { hint, fault })}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
      <Remarks {...{ id, hint, fault }} />
    </div>
  );
}
