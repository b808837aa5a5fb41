import { type ReactElement, useId, useState } from "react";
import { Remarks } from "../parts/remarks.tsx";
import { dayFault, FIRST_DAY, LAST_DAY, typedFault } from "./day-fault.ts";

/** A filter by a day. A whole day is the filter at once; what is no day is said when the field is left. */
export function DayFilter({
  label,
  value,
  firstDay,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly firstDay: string;
  readonly onChange: (day: string) => void;
}): ReactElement {
  const id = useId();
  const [text, setText] = useState(value);
  const [typed, setTyped] = useState<string>();
  const [shown, setShown] = useState(value);
  if (value !== shown) {
    // The address has changed, by this field or by something else.
    setShown(value);
    setText(value);
    setTyped(undefined);
  }
  const known = dayFault(value, firstDay);
  const fault = typed ?? known;
  return (
    <div className="field day-filter">
      <div className="row">
        <label className="muted" htmlFor={id}>
          {label}
        </label>
        <input
          id={id}
          type="date"
          className="input"
          min={FIRST_DAY}
          max={LAST_DAY}
          value={text}
          aria-invalid={fault !== undefined}
          aria-describedby={fault === undefined ? undefined : `${id}-fault`}
          onChange={({ currentTarget: input }) => {
            setText(input.value);
            if (!input.validity.valid) return;
            setTyped(undefined);
            if (input.value !== value) onChange(input.value);
          }}
          onBlur={({ currentTarget: { validity } }) => {
            if (!validity.valid) setTyped(typedFault(validity));
          }}
        />
        {known !== undefined && (
          <button
            type="button"
            className="button"
            aria-label={`Remove ${label}`}
            onClick={() => onChange("")}
          >
            Remove
          </button>
        )}
      </div>
      <Remarks id={id} fault={fault} />
    </div>
  );
}
