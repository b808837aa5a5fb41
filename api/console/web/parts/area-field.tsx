import { type ReactElement, useId } from "react";
import { describedBy, Remarks } from "./remarks.tsx";

/** Several lines of text with their label. */
export function AreaField({
  label,
  value,
  onChange,
  fault,
  rows = 4,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly fault?: string | undefined;
  readonly rows?: number;
}): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className="input"
        rows={rows}
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={describedBy(id, { fault })}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Remarks {...{ id, fault }} />
    </div>
  );
}
