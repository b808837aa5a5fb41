import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactElement, type ReactNode, useState } from "react";
import { Drawer } from "../parts/drawer.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import type { FormField, Save } from "./form-field.ts";
import { NestedForm } from "./nested-form.tsx";

const HEIGHT = 320;

/** One record beside its list, and a form to change it. */
export function RecordDrawer<Row extends { readonly name: string }>({
  noun,
  record,
  fields,
  onSave,
  onClose,
  children,
}: {
  /** Stands in the title until the name is known. */
  readonly noun: string;
  readonly record: UseQueryResult<Row>;
  readonly fields: readonly FormField[];
  /** Undefined for those who may not change it. */
  readonly onSave: Save | undefined;
  readonly onClose: () => void;
  /** What is shown of the record; the button to change it comes after the first. */
  readonly children: (row: Row) => readonly [facts: ReactNode, ...more: ReactNode[]];
}): ReactElement {
  return (
    <Drawer title={record.data?.name ?? noun} onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {record.data === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {record.data !== undefined && (
        <Content row={record.data} fields={fields} onSave={onSave} shown={children(record.data)} />
      )}
    </Drawer>
  );
}

function Content({
  row,
  fields,
  onSave,
  shown: [facts, ...more],
}: {
  readonly row: object;
  readonly fields: readonly FormField[];
  readonly onSave: Save | undefined;
  readonly shown: readonly [facts: ReactNode, ...more: ReactNode[]];
}): ReactElement {
  const [isEditing, setEditing] = useState(false);
  if (onSave !== undefined && isEditing) {
    return (
      <NestedForm
        fields={fields}
        initial={row}
        submit="Save"
        onSubmit={async (body) => {
          await onSave(body);
          setEditing(false);
        }}
        onCancel={() => setEditing(false)}
      />
    );
  }
  return (
    <>
      {facts}
      {onSave !== undefined && (
        <div className="row">
          <button type="button" className="button" onClick={() => setEditing(true)}>
            Edit
          </button>
        </div>
      )}
      {more}
    </>
  );
}
