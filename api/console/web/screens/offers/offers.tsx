import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useIsNew } from "../../address/use-is-new.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge, statusWords } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { figureColumns } from "../charts/figure-columns.tsx";
import { RankingLink } from "../charts/ranking-link.tsx";
import { NewOffer } from "./new-offer.tsx";
import { type Offer, termText } from "./offer.ts";
import { OfferDrawer } from "./offer-drawer.tsx";

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name or code" },
  {
    name: "status",
    label: "Status",
    choices: [
      ["active", "Active"],
      ["paused", "Paused"],
    ],
  },
  {
    name: "visibility",
    label: "Visibility",
    choices: [
      ["public", "Public"],
      ["approval", "By approval"],
      ["private", "Private"],
    ],
  },
];

const COLUMNS: readonly Column<Offer>[] = [
  { name: "name", title: "Offer", opens: true, cell: ({ name }) => <StrangerText text={name} /> },
  { name: "code", title: "Code", cell: ({ code }) => <code>{code}</code> },
  {
    name: "status",
    title: "Status",
    isEarly: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    name: "advertiser",
    title: "Advertiser",
    cell: ({ advertiser_id: id }) =>
      id !== undefined && <RecordName of={advertiserChoices} id={id} />,
  },
  {
    name: "payout",
    title: "Payout",
    isNumber: true,
    cell: (offer) => termText(offer.payout_type, offer.payout, offer.currency),
  },
  {
    name: "revenue",
    title: "Revenue",
    isNumber: true,
    cell: (offer) => termText(offer.revenue_type, offer.revenue, offer.currency),
  },
  ...figureColumns<Offer>("offer", ["conversions", "revenue", "profit"]),
  courseColumn("offer"),
  {
    name: "visibility",
    title: "Visibility",
    isOptional: true,
    cell: ({ visibility }) => statusWords(visibility),
  },
  {
    name: "events",
    title: "Events",
    isNumber: true,
    isOptional: true,
    cell: ({ events }) => events.length,
  },
  {
    name: "tags",
    title: "Tags",
    isOptional: true,
    cell: ({ tags }) => <StrangerText text={tags.join(", ")} />,
  },
  { name: "id", title: "ID", isNumber: true, isOptional: true, cell: ({ id }) => id },
];

/** All offers. */
export function Offers(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [search, change] = useAddress();
  const [isNew, setNew] = useIsNew();
  const mayWrite = role === "admin" && mayDo(membership, "offers.write");
  const open = search.get("open");
  return (
    <>
      <h1>Offers</h1>
      <RecordList<Offer>
        title="Offers"
        isTitled={false}
        name="offers"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/offers", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => change({ open: String(id) })}
        nothing={
          <>
            <strong>No offers yet</strong>
            <p className="muted">An offer belongs to an advertiser. Create the advertiser first.</p>
          </>
        }
        actions={
          <>
            <RankingLink entity="offer" by="revenue" />
            {mayWrite && (
              <>
                <ImportButton kind="offers" />
                <button type="button" className="button first" onClick={() => setNew(true)}>
                  <Plus size={14} aria-hidden /> New offer
                </button>
              </>
            )}
          </>
        }
      />
      {open !== null && (
        <OfferDrawer
          key={open}
          id={Number(open)}
          mayWrite={mayWrite}
          onClose={() => change({ open: undefined })}
          onOpen={(id) => change({ open: String(id) })}
        />
      )}
      {isNew && mayWrite && (
        <NewOffer
          onClose={() => setNew(false)}
          onMade={(id) => change({ new: undefined, open: String(id) })}
        />
      )}
    </>
  );
}
