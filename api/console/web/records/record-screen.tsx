import { Plus } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { useAddress } from "../address/use-address.ts";
import { useIsNew } from "../address/use-is-new.ts";
import type { Query } from "../client/lists.ts";
import { mayDo, useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { Drawer } from "../parts/drawer.tsx";
import type { RecordBody } from "./form-field.ts";
import { ManagedDrawer } from "./managed-drawer.tsx";
import { NestedForm } from "./nested-form.tsx";
import { RecordList } from "./record-list.tsx";
import type { RecordResource, ResourceRow } from "./record-resource.ts";

/** Everything that can be done with the records of one kind. */
export function RecordScreen<Row extends ResourceRow>({
  resource,
  isTitled = true,
  actions,
  fixed,
}: {
  readonly resource: RecordResource<Row>;
  /** False where the heading of the screen has said the title. */
  readonly isTitled?: boolean;
  /** Shows only the records of one other record, such as of a partner, and makes new ones for it. */
  readonly fixed?: Readonly<Record<string, number>>;
  /** Further buttons for those who may write. */
  readonly actions?: ReactNode;
}): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [search, change] = useAddress();
  const [isNew, setNew] = useIsNew();
  const mayWrite = role === "admin" && mayDo(membership, resource.permission);
  const open = search.get("open");
  return (
    <>
      {fixed === undefined && <p className="muted">{resource.about}</p>}
      <RecordList<Row>
        title={resource.title}
        isTitled={isTitled}
        name={resource.name}
        filters={fixed === undefined ? (resource.filters ?? []) : []}
        fixed={textsOf(fixed ?? {})}
        load={async (query, signal) => await resource.list(api, query, signal)}
        columns={resource.columns}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => change({ open: String(id) })}
        nothing={<strong>No {resource.title.toLowerCase()} yet</strong>}
        actions={
          mayWrite && (
            <>
              {actions}
              <button type="button" className="button first" onClick={() => setNew(true)}>
                <Plus size={14} aria-hidden /> New {resource.noun}
              </button>
            </>
          )
        }
      />
      {open !== null && (
        <ManagedDrawer
          resource={resource}
          id={Number(open)}
          mayWrite={mayWrite}
          onClose={() => change({ open: undefined })}
        />
      )}
      {isNew && mayWrite && (
        <NewRecord
          resource={resource}
          fixed={fixed ?? {}}
          onClose={() => setNew(false)}
          onMade={(id) => change({ new: undefined, open: String(id) })}
        />
      )}
    </>
  );
}

function textsOf(fixed: Readonly<Record<string, number>>): Query {
  return Object.fromEntries(Object.entries(fixed).map(([name, id]) => [name, String(id)]));
}

function NewRecord<Row extends ResourceRow>({
  resource: { noun, name, fields, initial = {}, create },
  fixed,
  onClose,
  onMade,
}: {
  readonly resource: RecordResource<Row>;
  readonly fixed: Readonly<Record<string, number>>;
  readonly onClose: () => void;
  readonly onMade: (id: number) => void;
}): ReactElement {
  const { api } = useMembership();
  const make = useWrite([name], async (body: RecordBody) => {
    onMade((await create(api, { ...fixed, ...body })).id);
  });
  return (
    <Drawer title={`New ${noun}`} onClose={onClose}>
      <NestedForm
        fields={fields}
        initial={{ ...initial, ...fixed }}
        submit={`Create the ${noun}`}
        onSubmit={make.mutateAsync}
      />
    </Drawer>
  );
}
