import { X } from "lucide-react";
import type { ReactElement } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { RowButton } from "../parts/row-button.tsx";
import { RecordChoice } from "./record-choice.tsx";
import { RecordName } from "./record-name.tsx";

/** Several records, chosen one after the other. */
export function RecordsChoice({
  label,
  load,
  chosen,
  hint,
  fault,
  onChange,
}: {
  readonly label: string;
  readonly load: LoadChoices;
  readonly chosen: readonly string[];
  readonly hint?: string | undefined;
  readonly fault: string | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}): ReactElement {
  return (
    <div className="field">
      <RecordChoice
        label={label}
        load={load}
        value=""
        hint={hint}
        fault={fault}
        without={chosen}
        none={chosen.length === 0 ? "Any" : "Add another"}
        onChange={(id) => id !== "" && !chosen.includes(id) && onChange([...chosen, id])}
      />
      {chosen.length > 0 && (
        <ul className="chosen-records" aria-label={`${label}: chosen`}>
          {chosen.map((id, index) => (
            <li key={id} className="badge">
              <RecordName of={load} id={id} />
              <RowButton
                label={`Remove ${label.toLowerCase()} ${index + 1}`}
                icon={X}
                onPress={() => onChange(chosen.filter((one) => one !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
