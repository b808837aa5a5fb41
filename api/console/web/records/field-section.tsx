import { type ReactElement, type ReactNode, useState } from "react";
import { groupIn, isEmpty } from "./form-draft.ts";
import type { FormField, Save } from "./form-field.ts";
import { NestedForm } from "./nested-form.tsx";
import { ShownFields } from "./shown-fields.tsx";

/** Some fields of a record, which are read and changed together. */
export function FieldSection({
  title,
  fields,
  record,
  onSave,
  children,
}: {
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly record: object;
  /** Undefined for those who may not change it. */
  readonly onSave: Save | undefined;
  /** What is read in place of the fields, where words of their own say more. */
  readonly children?: ReactNode;
}): ReactElement {
  const [isEditing, setEditing] = useState(false);
  return (
    <section className="panel stack">
      <div className="row">
        <h2 className="grow">{title}</h2>
        {onSave !== undefined && !isEditing && (
          <button
            type="button"
            className="button"
            aria-label={`Edit ${title.toLowerCase()}`}
            onClick={() => setEditing(true)}
          >
            Edit
          </button>
        )}
      </div>
      {onSave !== undefined && isEditing ? (
        <NestedForm
          fields={fields}
          initial={record}
          submit={`Save ${title.toLowerCase()}`}
          onSubmit={async (body) => {
            await onSave(body);
            setEditing(false);
          }}
          onCancel={() => setEditing(false)}
        />
      ) : (
        (children ?? <Shown fields={fields} record={record} />)
      )}
    </section>
  );
}

function Shown({
  fields,
  record,
}: {
  readonly fields: readonly FormField[];
  readonly record: object;
}): ReactElement {
  const values = groupIn(record);
  const isNothing = fields.every(({ name, kind }) => kind !== "flag" && isEmpty(values[name]));
  return isNothing ? (
    <p className="muted">Nothing entered yet</p>
  ) : (
    <ShownFields fields={fields} record={record} />
  );
}
