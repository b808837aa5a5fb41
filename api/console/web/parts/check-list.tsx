import type { ReactElement } from "react";
import type { Choice } from "../client/choices.ts";

/** Several of a few values. */
export function CheckList({
  label,
  chosen,
  choices,
  fault,
  onChange,
}: {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly choices: readonly Choice[];
  readonly fault: string | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}): ReactElement {
  const toggle = (name: string): void =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <fieldset className="field">
      <legend className="label">{label}</legend>
      <div className="check-list">
        {choices.map(([name, words]) => (
          <label key={name} className="row">
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            {words}
          </label>
        ))}
      </div>
      {fault !== undefined && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}
