import { type InputHTMLAttributes, type ReactElement, useId } from "react";

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
  const described = [
    hint === undefined ? "" : `${id}-hint`,
    fault === undefined ? "" : `${id}-fault`,
  ].filter(Boolean);
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
        aria-describedby={described.length === 0 ? undefined : described.join(" ")}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault !== undefined && (
        <span className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}
