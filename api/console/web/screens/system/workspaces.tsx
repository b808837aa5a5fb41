import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { currencyChoices, zoneChoices } from "../../records/known-choices.ts";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";

type Workspace = components["schemas"]["WorkspaceOfInstallation"];

const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name", required: true },
  {
    name: "slug",
    label: "Slug",
    required: true,
    hint: "In addresses of the console, such as acme",
  },
  { name: "timezone", label: "Time zone", load: zoneChoices },
  { name: "currency", label: "Currency", load: currencyChoices },
];

const COLUMNS: readonly Column<Workspace>[] = [
  {
    name: "name",
    title: "Workspace",
    opens: true,
    cell: (row) => <StrangerText text={row.name} />,
  },
  { name: "slug", title: "Slug", cell: ({ slug }) => <code>{slug}</code> },
  { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  { name: "members", title: "People", isNumber: true, cell: ({ members }) => members },
  { name: "zone", title: "Time zone", cell: ({ timezone }) => timezone },
  { name: "currency", title: "Currency", cell: ({ currency }) => currency },
  { name: "since", title: "Since", cell: (row) => <InstantText iso={row.created_at} /> },
];

/** Every workspace of the installation, for the person who runs it. */
export function Workspaces(): ReactElement {
  const { api } = useMembership();
  const [isNew, setNew] = useState(false);
  const [open, setOpen] = useState<Workspace | undefined>();
  return (
    <>
      <h1>Workspaces</h1>
      <RecordList<Workspace>
        title="Workspaces"
        isTitled={false}
        name="workspaces"
        load={async (_query, signal) => await read(api.GET("/workspaces", { signal }))}
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={setOpen}
        nothing={<strong>No workspaces yet</strong>}
        actions={
          <button type="button" className="button first" onClick={() => setNew(true)}>
            <Plus size={14} aria-hidden /> New workspace
          </button>
        }
      />
      {isNew && <NewWorkspace onClose={() => setNew(false)} />}
      {open !== undefined && (
        <WorkspaceDrawer workspace={open} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

function NewWorkspace({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { api } = useMembership();
  const create = useWrite(
    ["workspaces"],
    async (body: FormBody) =>
      (await read(api.POST("/workspaces", { body: { name: "", slug: "", ...body } }))).data,
  );
  const made = create.data;
  return (
    <Drawer title="New workspace" onClose={onClose}>
      {made === undefined ? (
        <RecordForm
          fields={FIELDS}
          submit="Create the workspace"
          onSubmit={async (body) => await create.mutateAsync(body)}
        />
      ) : (
        <>
          <p role="status">
            The workspace {made.slug} is there, and you are its admin. Choose it at the top of the
            page.
          </p>
          <p>Its admin key is shown only now:</p>
          <div className="row break">
            <code>{made.admin_key}</code>
            <CopyButton label="Copy the key" text={made.admin_key} />
          </div>
        </>
      )}
    </Drawer>
  );
}

function WorkspaceDrawer({
  workspace: { id, name, status },
  onClose,
}: {
  readonly workspace: Workspace;
  readonly onClose: () => void;
}): ReactElement {
  const { api, session, membershipId } = useMembership();
  const isOwn = session.memberships.some(
    (one) => one.id === membershipId && one.workspace.id === id,
  );
  const params = { path: { id } };
  const save = useWrite(["workspaces"], async (body: FormBody) => {
    await read(api.PATCH("/workspaces/{id}", { params, body }));
    onClose();
  });
  return (
    <Drawer title={name} onClose={onClose}>
      <RecordForm
        fields={FIELDS.slice(0, 1)}
        initial={{ name }}
        submit="Save"
        onSubmit={save.mutateAsync}
      />
      {status === "inactive" && (
        <button
          type="button"
          className="button"
          disabled={save.isPending}
          onClick={() => save.mutate({ status: "active" })}
        >
          Switch on
        </button>
      )}
      {status === "active" && isOwn && (
        <p className="muted">
          You look at this page through this workspace. Open it through another one to switch this
          one off, because nobody could come back from here.
        </p>
      )}
      {status === "active" && !isOwn && (
        <ConfirmButton
          label="Deactivate"
          question="Its keys and people are refused, and its links stop working."
          isBusy={save.isPending}
          onConfirm={() => save.mutate({ status: "inactive" })}
        />
      )}
      {save.isError && <ProblemNotice error={save.error} />}
    </Drawer>
  );
}
