import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { ADVERTISER } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { ListPlace } from "../../records/list-place.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { figureColumns } from "../charts/figure-columns.tsx";
import { RankingLink } from "../charts/ranking-link.tsx";
import type { Advertiser } from "./advertiser.ts";

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name or e-mail" },
  ...ADVERTISER.status,
];
const COLUMNS: readonly Column<Advertiser>[] = [
  {
    name: "name",
    title: "Advertiser",
    opens: true,
    sort: "name",
    cell: (row) => <StrangerText text={row.name} />,
  },
  {
    name: "status",
    title: "Status",
    isEarly: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  ...figureColumns<Advertiser>("advertiser", ["conversions", "revenue", "profit"]),
  courseColumn("advertiser"),
  { name: "email", title: "E-mail", cell: ({ email }) => <StrangerText text={email} /> },
  { name: "currency", title: "Currency", cell: ({ currency }) => currency },
  { name: "tags", title: "Tags", cell: ({ tags }) => <StrangerText text={tags.join(", ")} /> },
  {
    name: "created",
    title: "Created",
    isOptional: true,
    sort: "created_at",
    isNewestFirst: true,
    cell: ({ created_at: at }) => <InstantText iso={at} />,
  },
  { name: "id", title: "ID", isNumber: true, isOptional: true, cell: ({ id }) => id },
];

/** All advertisers. */
export function Advertisers(): ReactElement {
  const membership = useMembership();
  const { api, base, role } = membership;
  const [, go] = useLocation();
  const mayWrite = role === "admin" && mayDo(membership, "advertisers.write");
  return (
    <ListPlace path="/advertisers">
      <h1>Advertisers</h1>
      <RecordList<Advertiser>
        title="Advertisers"
        isTitled={false}
        name="advertisers"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/advertisers", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => go(`${base}/advertisers/${id}`)}
        nothing={<strong>No advertisers yet</strong>}
        actions={
          <>
            <RankingLink entity="advertiser" by="revenue" />
            {mayWrite && (
              <>
                <ImportButton kind="advertisers" />
                <button
                  type="button"
                  className="button first"
                  onClick={() => go(`${base}/advertisers/new`)}
                >
                  <Plus size={14} aria-hidden /> New advertiser
                </button>
              </>
            )}
          </>
        }
      />
    </ListPlace>
  );
}
