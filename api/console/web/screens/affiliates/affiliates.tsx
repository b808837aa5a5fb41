import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { AFFILIATE } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { userChoices } from "../../client/user-choices.ts";
import { formatInstant } from "../../format/time.ts";
import { valueWords } from "../../format/value-words.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { ListPlace } from "../../records/list-place.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { figureColumns } from "../charts/figure-columns.tsx";
import { RankingLink } from "../charts/ranking-link.tsx";
import type { Affiliate } from "./affiliate.ts";
import { StatusActions } from "./status-actions.tsx";

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name, code or e-mail" },
  ...AFFILIATE.status,
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
      sort: "name",
      cell: ({ name }) => <StrangerText text={name} />,
    },
    { name: "code", title: "Code", sort: "code", cell: ({ code }) => <code>{code}</code> },
    {
      name: "status",
      title: "Status",
      isEarly: true,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    ...figureColumns<Affiliate>("affiliate", ["conversions", "payout", "profit"]),
    courseColumn("affiliate"),
    {
      name: "manager",
      title: "Manager",
      cell: ({ manager_id: id }) => id !== null && <RecordName of={userChoices} id={id} />,
    },
    { name: "email", title: "E-mail", cell: ({ email }) => <StrangerText text={email} /> },
    {
      name: "country",
      title: "Country",
      isOptional: true,
      cell: ({ country }) => valueWords("country", country),
    },
    { name: "tags", title: "Tags", cell: ({ tags }) => <StrangerText text={tags.join(", ")} /> },
    {
      name: "since",
      title: "Since",
      isOptional: true,
      sort: "created_at",
      isNewestFirst: true,
      cell: (row) => formatInstant(row.created_at, zone),
    },
    { name: "id", title: "ID", isNumber: true, isOptional: true, cell: ({ id }) => id },
  ];
  return (
    <ListPlace path="/partners">
      <h1>Partners</h1>
      <RecordList<Affiliate>
        title="Partners"
        isTitled={false}
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
          <>
            <RankingLink entity="affiliate" by="payout" />
            {mayWrite && (
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
            )}
          </>
        }
        decided="partners"
        {...(mayWrite
          ? { bulk: (rows, chosen) => <StatusActions rows={rows} chosen={chosen} /> }
          : {})}
      />
    </ListPlace>
  );
}
