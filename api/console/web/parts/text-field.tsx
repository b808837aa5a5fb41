import { type InputHTMLAttributes, type ReactElement, useId } from "react";
import { describedBy, Remarks } from "./remarks.tsx";

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, "id" | "onChange" | "value"> & {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
};

/** One line of text with its label, hint and fault. */
export function TextField({
  label,
  value,
  onChange,
  hint,
  fault,
  ...input
}: TextFieldProps): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <input
        {...input}
        id={id}
        className="input"
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={describedBy(id, { hint, fault })}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Remarks {...{ id, hint, fault }} />
    </div>
  );
}
