import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatInstant } from "../../format/time.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { ListPlace } from "../../records/list-place.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import type { Affiliate } from "./affiliate.ts";
import { StatusActions } from "./status-actions.tsx";

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name, code or e-mail" },
  {
    name: "status",
    label: "Status",
    choices: [
      ["active", "Active"],
      ["pending", "Pending"],
      ["blocked", "Blocked"],
      ["rejected", "Rejected"],
    ],
  },
  { name: "tag", label: "Tag" },
];

/** All partners. */
export function Affiliates(): ReactElement {
  const membership = useMembership();
  const { api, base, role, zone } = membership;
  const [, go] = useLocation();
  const mayWrite = role === "admin" && mayDo(membership, "affiliates.write");
  const columns: readonly Column<Affiliate>[] = [
    {
      name: "name",
      title: "Partner",
      opens: true,
      cell: ({ name }) => <StrangerText text={name} />,
    },
    { name: "code", title: "Code", cell: ({ code }) => <code>{code}</code> },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    courseColumn("affiliate"),
    { name: "email", title: "E-mail", cell: ({ email }) => <StrangerText text={email} /> },
    { name: "country", title: "Country", cell: ({ country }) => country },
    { name: "tags", title: "Tags", cell: ({ tags }) => <StrangerText text={tags.join(", ")} /> },
    { name: "since", title: "Since", cell: (row) => formatInstant(row.created_at, zone) },
  ];
  return (
    <ListPlace path="/partners">
      <h1>Partners</h1>
      <RecordList<Affiliate>
        title="Partners"
        name="affiliates"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/affiliates", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => go(`${base}/partners/${id}`)}
        nothing={<strong>No partners yet</strong>}
        actions={
          mayWrite && (
            <>
              <ImportButton kind="affiliates" />
              <button
                type="button"
                className="button first"
                onClick={() => go(`${base}/partners/new`)}
              >
                <Plus size={14} aria-hidden /> New partner
              </button>
            </>
          )
        }
        {...(mayWrite ? { bulk: (rows, done) => <StatusActions rows={rows} onDone={done} /> } : {})}
      />
    </ListPlace>
  );
}
