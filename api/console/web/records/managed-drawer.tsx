import { type ReactElement, useState } from "react";
import { useRecord } from "../client/records.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Drawer } from "../parts/drawer.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { groupIn } from "./form-draft.ts";
import type { RecordBody } from "./form-field.ts";
import { NestedForm } from "./nested-form.tsx";
import type { RecordResource, ResourceRow } from "./record-resource.ts";
import { ShownFields } from "./shown-fields.tsx";

const HEIGHT = 320;

type DrawerProps<Row extends ResourceRow> = {
  readonly resource: RecordResource<Row>;
  readonly id: number;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
};

/** One record: to read, and for those who may write to change, switch off and delete. */
export function ManagedDrawer<Row extends ResourceRow>({
  resource,
  id,
  mayWrite,
  onClose,
}: DrawerProps<Row>): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const record = useRecord(membership, {
    name: `${resource.name}-one`,
    id,
    load: async (signal) =>
      resource.get === undefined
        ? found(await resource.list(api, {}, signal), id)
        : await resource.get(api, id, signal),
  });
  const title = record.data === undefined ? resource.noun : resource.titleOf(record.data);
  return (
    <Drawer title={title === "" ? resource.noun : title} onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {record.data === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {record.data !== undefined && (
        <Content row={record.data} {...{ resource, id, mayWrite, onClose }} />
      )}
    </Drawer>
  );
}

function found<Row extends ResourceRow>(
  { data }: { readonly data: readonly Row[] },
  id: number,
): Row {
  const row = data.find((one) => one.id === id);
  if (row === undefined) throw new Error("This record was deleted.");
  return row;
}

function Content<Row extends ResourceRow>({
  resource,
  row,
  id,
  mayWrite,
  onClose,
}: DrawerProps<Row> & { readonly row: Row }): ReactElement {
  const { api } = useMembership();
  const { name, fields, update, remove, states, noun } = resource;
  const names = [name, `${name}-one`];
  const [isEditing, setEditing] = useState(false);
  const save = useWrite(names, async (body: RecordBody) => {
    await update?.(api, id, body);
    setEditing(false);
  });
  // Not the record itself, which is gone: only the list is read again.
  const drop = useWrite([name], async () => {
    await remove(api, id);
    onClose();
  });
  if (isEditing)
    return (
      <NestedForm
        fields={fields}
        initial={row}
        submit="Save"
        onSubmit={save.mutateAsync}
        onCancel={() => setEditing(false)}
      />
    );
  const isOn = groupIn(row)["status"] === states?.on;
  return (
    <>
      <ShownFields fields={fields} record={row} />
      {mayWrite && (
        <div className="row wrap">
          {update !== undefined && (
            <button type="button" className="button" onClick={() => setEditing(true)}>
              Edit
            </button>
          )}
          {update !== undefined && states !== undefined && (
            <button
              type="button"
              className="button"
              disabled={save.isPending}
              onClick={() => save.mutate({ status: isOn ? states.off : states.on })}
            >
              {isOn ? "Deactivate" : "Activate"}
            </button>
          )}
          <ConfirmButton
            label="Delete"
            question={`The ${noun} is gone for good.`}
            isBusy={drop.isPending}
            onConfirm={() => drop.mutate()}
          />
        </div>
      )}
      {resource.more?.(row)}
      {(save.error ?? drop.error) !== null && <ProblemNotice error={save.error ?? drop.error} />}
    </>
  );
}
