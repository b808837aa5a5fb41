import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { ROLE_WORDS } from "../../format/role.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { GRANT_AT_FIRST, GRANT_FIELDS, grantOf } from "./grant.ts";

type Key = components["schemas"]["OwnKey"];

const NAME: FormField = { name: "name", label: "Name", hint: "For people to recognise it" };
/** Keys of programs: of the workspace for staff, else of the own account. */
export function Keys(): ReactElement {
  const { api, zone, role } = useMembership();
  const [isNew, setNew] = useState(false);
  const isStaff = role === "admin" || role === "analyst";
  const mayWrite = role !== "analyst";
  const revoke = useWrite(["keys"], async (id: number) => {
    const params = { params: { path: { id } } };
    return isStaff
      ? await read(api.DELETE("/keys/{id}", params))
      : await read(api.DELETE("/me/keys/{id}", params));
  });
  const columns: readonly Column<Key>[] = [
    { name: "name", title: "Name", cell: (row) => <StrangerText text={row.name} /> },
    { name: "role", title: "Role", cell: (row) => ROLE_WORDS[row.role] },
    {
      name: "state",
      title: "State",
      cell: (row) => <StatusBadge status={row.revoked_at === null ? "active" : "inactive"} />,
    },
    {
      name: "used",
      title: "Last used",
      cell: ({ last_used_at: at }) => (at === null ? "Never" : formatInstant(at, zone)),
    },
    { name: "made", title: "Created", cell: (row) => formatInstant(row.created_at, zone) },
    {
      name: "actions",
      title: "",
      cell: (row) =>
        mayWrite &&
        row.revoked_at === null && (
          <button
            type="button"
            className="button plain"
            disabled={revoke.isPending}
            onClick={() => revoke.mutate(row.id)}
          >
            Revoke
          </button>
        ),
    },
  ];
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">API keys</h1>
        <GuideLink href="/api/v1/docs">API reference</GuideLink>
      </div>
      {revoke.isError && <ProblemNotice error={revoke.error} />}
      <RecordList<Key>
        title="API keys"
        isTitled={false}
        name="keys"
        load={async (query, signal) => {
          const params = { params: { query: fromAddress(query) }, signal };
          return isStaff
            ? await read(api.GET("/keys", params))
            : await read(api.GET("/me/keys", params));
        }}
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={<strong>No keys yet</strong>}
        actions={
          mayWrite && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> New key
            </button>
          )
        }
      />
      {isNew && <NewKey isStaff={isStaff} onClose={() => setNew(false)} />}
    </>
  );
}

function NewKey({
  isStaff,
  onClose,
}: {
  readonly isStaff: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const { api } = useMembership();
  const [secret, setSecret] = useState("");
  const create = useWrite(["keys"], async (body: FormBody) => {
    const name = String(body["name"] ?? "");
    const made = isStaff
      ? await read(api.POST("/keys", { body: { ...grantOf(body), name } }))
      : await read(api.POST("/me/keys", { body: { name } }));
    setSecret(made.data.key ?? "");
  });
  return (
    <Drawer title="New API key" onClose={onClose}>
      {secret === "" ? (
        <RecordForm
          fields={isStaff ? [NAME, ...GRANT_FIELDS] : [NAME]}
          initial={GRANT_AT_FIRST}
          submit="Create the key"
          onSubmit={async (body) => await create.mutateAsync(body)}
        />
      ) : (
        <div className="stack">
          <p>The key is shown only now. Whoever has it can use it.</p>
          <div className="row wrap">
            <code className="grow break">{secret}</code>
            <CopyButton label="Copy the key" text={secret} />
          </div>
        </div>
      )}
    </Drawer>
  );
}
