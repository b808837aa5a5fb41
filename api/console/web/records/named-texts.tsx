import { Plus, X } from "lucide-react";
import type { ReactElement } from "react";
import type { Choice } from "../client/choices.ts";
import { RowButton } from "../parts/row-button.tsx";
import { groupIn, textIn } from "./form-draft.ts";

/** Texts by name, such as the values that a sub ID may have. Each name occurs once. */
export function NamedTexts({
  label,
  choices,
  rows,
  fault,
  onChange,
}: {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly rows: readonly unknown[];
  readonly fault: string | undefined;
  readonly onChange: (rows: readonly unknown[]) => void;
}): ReactElement {
  const named = rows
    .map(groupIn)
    .map((row) => ({ name: textIn(row["name"]), text: textIn(row["text"]) }));
  const used = new Set(named.map(({ name }) => name));
  const free = choices.filter(([name]) => !used.has(name));
  const [next] = free;
  return (
    <fieldset className="field">
      <legend className="label">{label}</legend>
      {named.map((row, index) => (
        <div key={row.name} className="row">
          <select
            className="select"
            aria-label={`${label}: name ${index + 1}`}
            value={row.name}
            onChange={(event) =>
              onChange(named.with(index, { ...row, name: event.currentTarget.value }))
            }
          >
            {choices
              .filter(([name]) => name === row.name || !used.has(name))
              .map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
          </select>
          <input
            className="input"
            aria-label={`${label}: ${row.name}`}
            value={row.text}
            onChange={(event) =>
              onChange(named.with(index, { ...row, text: event.currentTarget.value }))
            }
          />
          <RowButton
            label={`Remove ${row.name}`}
            icon={X}
            onPress={() => onChange(named.toSpliced(index, 1))}
          />
        </div>
      ))}
      {fault !== undefined && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
      {next !== undefined && (
        <div className="row">
          <button
            type="button"
            className="button"
            onClick={() => onChange([...named, { name: next[0], text: "" }])}
          >
            <Plus size={14} aria-hidden /> Add {next[1]}
          </button>
        </div>
      )}
    </fieldset>
  );
}
