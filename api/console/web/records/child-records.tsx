import { type ReactElement, type ReactNode, useState } from "react";
import { useWrite } from "../member/use-write.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import type { FormField, RecordBody } from "./form-field.ts";
import { NestedForm } from "./nested-form.tsx";

export type ChildRecordsProps<Row> = {
  readonly title: string;
  readonly noun: string;
  /** Keys of cached answers that change with the rows. */
  readonly names: readonly string[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly show: (row: Row) => ReactNode;
  readonly fields: readonly FormField[];
  /** Fields that can be changed later; by default all. */
  readonly editFields?: readonly FormField[];
  readonly initial?: object;
  readonly mayWrite: boolean;
  readonly create: (body: RecordBody) => Promise<unknown>;
  readonly update: (row: Row, body: RecordBody) => Promise<unknown>;
  readonly remove: (row: Row) => Promise<unknown>;
  /** Rows that must stay, such as the default event. */
  readonly mayRemove?: (row: Row) => boolean;
};

/** The few records that belong to another one: shown, added, changed and deleted on its page. */
export function ChildRecords<Row extends object>(props: ChildRecordsProps<Row>): ReactElement {
  const { title, noun, names, rows, keyOf, fields, initial = {}, mayWrite } = props;
  const [isNew, setNew] = useState(false);
  const add = useWrite(names, async (body: RecordBody) => {
    await props.create(body);
    setNew(false);
  });
  return (
    <section className="panel stack">
      <h2>{title}</h2>
      {rows.length === 0 && <p className="muted">No {title.toLowerCase()} yet</p>}
      <ul className="plain-list">
        {rows.map((row) => (
          <li key={keyOf(row)}>
            <Child {...props} row={row} />
          </li>
        ))}
      </ul>
      {mayWrite && !isNew && (
        <div className="row">
          <button type="button" className="button" onClick={() => setNew(true)}>
            Add {noun}
          </button>
        </div>
      )}
      {isNew && (
        <NestedForm
          fields={fields}
          initial={initial}
          submit={`Add the ${noun.replace(/^an? /, "")}`}
          onSubmit={add.mutateAsync}
          onCancel={() => setNew(false)}
        />
      )}
    </section>
  );
}

function Child<Row extends object>({
  row,
  keyOf,
  names,
  show,
  fields,
  editFields = fields,
  mayWrite,
  update,
  remove,
  mayRemove,
}: ChildRecordsProps<Row> & { readonly row: Row }): ReactElement {
  const [isEditing, setEditing] = useState(false);
  const save = useWrite(names, async (body: RecordBody) => {
    await update(row, body);
    setEditing(false);
  });
  const drop = useWrite(names, async () => await remove(row));
  if (isEditing)
    return (
      <NestedForm
        fields={editFields}
        initial={row}
        submit="Save"
        onSubmit={save.mutateAsync}
        onCancel={() => setEditing(false)}
      />
    );
  return (
    <div className="row wrap">
      <div className="grow">{show(row)}</div>
      {mayWrite && (
        <button
          type="button"
          className="button"
          aria-label={`Edit ${keyOf(row)}`}
          onClick={() => setEditing(true)}
        >
          Edit
        </button>
      )}
      {mayWrite && (mayRemove?.(row) ?? true) && (
        <ConfirmButton
          label="Delete"
          question={`${keyOf(row)} is gone for good.`}
          isBusy={drop.isPending}
          onConfirm={() => drop.mutate(undefined)}
        />
      )}
      {drop.isError && <ProblemNotice error={drop.error} />}
    </div>
  );
}
