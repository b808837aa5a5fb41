import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { useWrite } from "../../member/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { type FormBody, RecordForm } from "../../records/record-form.tsx";
import { RecordList } from "../../records/record-list.tsx";

type Domain = components["schemas"]["TrackingDomain"];

const COLUMNS: readonly Column<Domain>[] = [
  { name: "host", title: "Host", cell: ({ host }) => <code>{host}</code> },
  { name: "scheme", title: "Scheme", cell: ({ scheme }) => scheme },
  { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    name: "certificate",
    title: "Certificate",
    cell: (row) => <StatusBadge status={row.certification} />,
  },
  { name: "default", title: "Default", cell: (row) => (row.is_default ? "Yes" : "") },
];

/** Hosts of links. */
export function Domains(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [isNew, setNew] = useState(false);
  const create = useWrite(["domains"], async (body: FormBody) => {
    await read(
      api.POST("/tracking-domains", { body: { ...body, host: String(body["host"] ?? "") } }),
    );
    setNew(false);
  });
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Tracking domains</h1>
        <GuideLink href="/docs/links">About links</GuideLink>
      </div>
      <RecordList<Domain>
        title="Tracking domains"
        isTitled={false}
        name="domains"
        load={async (query, signal) =>
          await read(
            api.GET("/tracking-domains", { params: { query: fromAddress(query) }, signal }),
          )
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        nothing={<strong>No domains yet</strong>}
        actions={
          role === "admin" &&
          hasRight(membership, "everything") && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> New domain
            </button>
          )
        }
      />
      {isNew && (
        <Drawer title="New tracking domain" onClose={() => setNew(false)}>
          <RecordForm
            fields={[
              { name: "host", label: "Host", required: true, hint: "Such as go.acme.example" },
              {
                name: "scheme",
                label: "Scheme",
                choices: [
                  ["https", "https"],
                  ["http", "http"],
                ],
              },
            ]}
            initial={{ scheme: "https" }}
            submit="Add the domain"
            onSubmit={async (body) => await create.mutateAsync(body)}
          />
        </Drawer>
      )}
    </>
  );
}
