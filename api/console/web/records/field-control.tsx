import type { ReactElement } from "react";
import { AreaField } from "../parts/area-field.tsx";
import { CheckList } from "../parts/check-list.tsx";
import { ChoiceField } from "../parts/choice-field.tsx";
import { MacroField } from "../parts/macro-field.tsx";
import { TextField } from "../parts/text-field.tsx";
import { FieldGroup } from "./field-group.tsx";
import { FieldRows } from "./field-rows.tsx";
import {
  type Draft,
  faultOf,
  groupIn,
  isWanted,
  listIn,
  rowsIn,
  textIn,
  wholeFault,
} from "./form-draft.ts";
import type { FormField } from "./form-field.ts";
import { NamedTexts } from "./named-texts.tsx";
import { RecordChoice } from "./record-choice.tsx";
import { RecordsChoice } from "./records-choice.tsx";

export type Faults = Readonly<Record<string, string>>;

/** The controls of some fields, one below the other. */
export function FieldControls({
  fields,
  draft,
  faults,
  path,
  onChange,
}: {
  readonly fields: readonly FormField[];
  readonly draft: Draft;
  readonly faults: Faults;
  /** Path of the object that has the fields, with its dot; empty for the record. */
  readonly path: string;
  readonly onChange: (draft: Draft) => void;
}): ReactElement {
  return (
    <>
      {fields
        .filter((field) => isWanted(field, draft))
        .map((field) => (
          <FieldControl
            key={field.name}
            field={field}
            value={draft[field.name]}
            path={`${path}${field.name}`}
            faults={faults}
            onChange={(value) => onChange({ ...draft, [field.name]: value })}
          />
        ))}
    </>
  );
}

type ControlProps = {
  readonly field: FormField;
  readonly value: unknown;
  readonly path: string;
  readonly faults: Faults;
  readonly onChange: (value: unknown) => void;
};

function FieldControl(props: ControlProps): ReactElement {
  const { field, value, path, faults, onChange } = props;
  const fault = faultOf(faults, path);
  const { label, kind, choices = [], load, hint, fields = [] } = field;
  if (kind === "group")
    return (
      <FieldGroup field={field} draft={groupIn(value)} path={path} faults={faults}>
        <FieldControls
          fields={fields}
          draft={groupIn(value)}
          faults={faults}
          path={`${path}.`}
          onChange={onChange}
        />
      </FieldGroup>
    );
  if (kind === "rows")
    return (
      <FieldRows
        field={field}
        rows={rowsIn(value)}
        fault={wholeFault(faults, path)}
        onChange={onChange}
      >
        {(row, index, onRow) => (
          <FieldControls
            fields={fields}
            draft={row}
            faults={faults}
            path={`${path}[${index}].`}
            onChange={onRow}
          />
        )}
      </FieldRows>
    );
  if (kind === "lists" || kind === "texts")
    return (
      <NamedTexts
        label={label}
        choices={choices}
        rows={rowsIn(value)}
        fault={fault}
        {...{ onChange }}
      />
    );
  if (kind === "flag")
    return (
      <label className="row">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        {label}
      </label>
    );
  if (kind === "records" && load !== undefined)
    return (
      <RecordsChoice
        {...{ label, load, hint, fault, onChange }}
        chosen={rowsIn(value).map(textIn)}
      />
    );
  if (kind === "list" && load !== undefined)
    return (
      <RecordsChoice
        {...{ label, load, hint, fault }}
        chosen={listIn(textIn(value))}
        onChange={(chosen) => onChange(chosen.join(", "))}
      />
    );
  return <LeafControl field={field} value={textIn(value)} fault={fault} onChange={onChange} />;
}

function LeafControl({
  field: { label, kind, choices, hint, required, load, isNullable, macros },
  value,
  fault,
  onChange,
}: {
  readonly field: FormField;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (value: string) => void;
}): ReactElement {
  const shared = { label, value, fault, onChange };
  if (load !== undefined)
    return (
      <RecordChoice
        {...shared}
        {...{ load, hint }}
        none={isNullable === true ? "None" : "Choose"}
      />
    );
  if (choices !== undefined && (kind === "many" || kind === "many-numbers"))
    return (
      <CheckList
        label={label}
        fault={fault}
        chosen={listIn(value)}
        choices={choices}
        onChange={(chosen) => onChange(chosen.join(", "))}
      />
    );
  if (choices !== undefined)
    return (
      <ChoiceField
        {...shared}
        choices={isNullable === true ? [["", "Not set"], ...choices] : choices}
      />
    );
  if (kind === "lines") return <AreaField {...shared} rows={12} />;
  if (kind === "area") return <AreaField {...shared} />;
  if (macros !== undefined) return <MacroField {...shared} {...{ hint, required, macros }} />;
  return <TextField {...shared} {...inputFor(kind)} hint={hint} required={required} />;
}

function inputFor(kind: FormField["kind"]): object {
  if (kind === "new-password") return { type: "password", autoComplete: "new-password" };
  if (kind === "day") return { type: "date" };
  if (kind === "time") return { type: "datetime-local" };
  return { inputMode: kind === "number" ? "decimal" : undefined };
}
