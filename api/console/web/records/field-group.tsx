import { type ReactElement, type ReactNode, useState } from "react";
import { type Draft, isAt, isEmpty, wholeFault } from "./form-draft.ts";
import type { FormField } from "./form-field.ts";

/** Fields that belong together. A folded one opens by itself when it has content or a fault. */
export function FieldGroup({
  field: { label, hint, isFolded },
  draft,
  path,
  faults,
  children,
}: {
  readonly field: FormField;
  readonly draft: Draft;
  readonly path: string;
  readonly faults: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}): ReactElement {
  const [isOpen, setOpen] = useState(!isEmpty(draft));
  const hasFault = Object.keys(faults).some((name) => isAt(name, path));
  const whole = wholeFault(faults, path);
  const content = (
    <>
      {hint !== undefined && <p className="muted">{hint}</p>}
      <div className="field-grid">{children}</div>
      {whole !== undefined && (
        <p className="fault" role="alert">
          {whole}
        </p>
      )}
    </>
  );
  if (isFolded !== true)
    return (
      <fieldset className="group-field">
        <legend>{label}</legend>
        {content}
      </fieldset>
    );
  return (
    <details
      className="group-field"
      open={isOpen || hasFault}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{label}</summary>
      <div role="group" aria-label={label}>
        {content}
      </div>
    </details>
  );
}
