import { type ReactElement, useState } from "react";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { FIELD_CHOICES, FIELD_WORDS } from "./update-words.ts";
import type { Columns } from "./use-updates.ts";

/** The fields that the columns of a file stand for. They can be corrected while the page has the file. */
export function UpdateColumns({
  columns,
  onChange,
}: {
  readonly columns: Columns;
  readonly onChange: ((columns: Columns) => void) | undefined;
}): ReactElement {
  const [given, setGiven] = useState<Columns>({});
  const shown = { ...columns, ...given };
  const isOther = Object.entries(given).some(([name, field]) => columns[name] !== field);
  return (
    <details className="stack tight">
      <summary>Columns of the file</summary>
      {onChange === undefined ? (
        <dl className="facts">
          {Object.entries(columns).map(([name, field]) => (
            <div key={name}>
              <dt className="break">{name === "" ? "(no name)" : name}</dt>
              <dd>{FIELD_WORDS.get(field)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <>
          <div className="row wrap">
            {Object.entries(shown).map(([name, field]) => (
              <ChoiceField
                key={name}
                label={name === "" ? "(no name)" : name}
                value={field}
                choices={FIELD_CHOICES}
                onChange={(to) => setGiven({ ...given, [name]: fieldNamed(to) })}
              />
            ))}
          </div>
          <div className="row">
            <button
              type="button"
              className="button"
              disabled={!isOther}
              onClick={() => onChange(shown)}
            >
              Check again with these columns
            </button>
          </div>
        </>
      )}
    </details>
  );
}

function fieldNamed(name: string): Columns[string] {
  return FIELD_CHOICES.find(([field]) => field === name)?.[0] ?? "";
}
