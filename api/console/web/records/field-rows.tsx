import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { type ReactElement, type ReactNode, useState } from "react";
import { RowButton } from "../parts/row-button.tsx";
import { type Draft, draftOf, groupIn } from "./form-draft.ts";
import type { FormField } from "./form-field.ts";
import { swapped } from "./swapped.ts";

/** A list of objects: rows are added, moved and removed with buttons, so that a keyboard is enough. */
export function FieldRows({
  field,
  rows,
  fault,
  onChange,
  children,
}: {
  readonly field: FormField;
  readonly rows: readonly unknown[];
  readonly fault: string | undefined;
  readonly onChange: (rows: readonly unknown[]) => void;
  readonly children: (row: Draft, index: number, onRow: (row: Draft) => void) => ReactNode;
}): ReactElement {
  const noun = field.row?.noun ?? "row";
  // A row keeps its key when it is moved, so that its controls keep their state.
  const [keys, setKeys] = useState<readonly number[]>(() => rows.map((_row, index) => index));
  const arrange = (nextRows: readonly unknown[], nextKeys: readonly number[]): void => {
    setKeys(nextKeys);
    onChange(nextRows);
  };
  const add = (): void =>
    arrange(
      [...rows, draftOf(field.fields ?? [], field.row?.initial ?? {})],
      [...keys, Math.max(-1, ...keys) + 1],
    );
  const swap = (index: number, other: number): void =>
    arrange(swapped(rows, index, other), swapped(keys, index, other));
  return (
    <fieldset className="group-field">
      <legend>{field.label}</legend>
      {field.hint !== undefined && <p className="muted">{field.hint}</p>}
      {rows.map((row, index) => (
        <fieldset key={keys[index] ?? index} className="group-field row-field">
          <legend>
            {noun} {index + 1}
          </legend>
          {children(groupIn(row), index, (next) => onChange(rows.with(index, next)))}
          <div className="row end">
            <RowButton
              label={`Move ${noun} ${index + 1} up`}
              icon={ArrowUp}
              isOff={index === 0}
              onPress={() => swap(index, index - 1)}
            />
            <RowButton
              label={`Move ${noun} ${index + 1} down`}
              icon={ArrowDown}
              isOff={index === rows.length - 1}
              onPress={() => swap(index, index + 1)}
            />
            <RowButton
              label={`Remove ${noun} ${index + 1}`}
              icon={X}
              onPress={() => arrange(rows.toSpliced(index, 1), keys.toSpliced(index, 1))}
            />
          </div>
        </fieldset>
      ))}
      {fault !== undefined && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <div className="row">
        <button type="button" className="button" onClick={add}>
          <Plus size={14} aria-hidden /> Add {noun.toLowerCase()}
        </button>
      </div>
    </fieldset>
  );
}
