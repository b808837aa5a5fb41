import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import { useAddress } from "../../address/use-address.ts";
import { useIsNew } from "../../address/use-is-new.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { type RoleFigures, useRoleFigures } from "../../figures/role-figures.ts";
import { formatCountry } from "../../format/country.ts";
import { formatMoney } from "../../format/money.ts";
import { formatInstant } from "../../format/time.ts";
import { METHODS, reasonWords } from "../../format/value-words.ts";
import { later } from "../../later.tsx";
import { type Membership, mayDo, useMembership } from "../../member/membership.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { WaitingMark } from "../../parts/decision-notices.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RangeBar } from "../../range/range-bar.tsx";
import { kindIn } from "../../records/bulk.ts";
import { countedQuery } from "../../records/counted-query.ts";
import { reasonChoices } from "../../records/known-choices.ts";
import { givenFilters, type ListFilter } from "../../records/list-filters.tsx";
import { givenSort } from "../../records/list-sorting.ts";
import { RecordList } from "../../records/record-list.tsx";
import { CountedNote } from "../reports/counted-note.tsx";
import { amountOf, type Conversion } from "./conversion.ts";
import { ConversionDrawer } from "./conversion-drawer.tsx";
import { CONVERSIONS, ReviewActions } from "./review-actions.tsx";

const FILTERS: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [
      ["approved", "Approved"],
      ["pending", "Pending"],
      ["rejected", "Rejected"],
    ],
  },
  {
    name: "method",
    label: "Method",
    choices: METHODS,
  },
  { name: "event", label: "Event" },
  { name: "click_id", label: "Click ID" },
  { name: "adv_txid", label: "Order ID" },
];
const OF_STAFF: readonly ListFilter[] = [
  { name: "status_reason", label: "Reason", load: reasonChoices },
  { name: "offer_id", label: "Offer", load: offerIdChoices },
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
  { name: "advertiser_id", label: "Advertiser", load: advertiserChoices },
];

// Only staff load it.
const RecordByHand = later(async () => (await import("./record-by-hand.tsx")).RecordByHand);

const LIVE_MS = 3_000;

/** Conversions of a range, the newest first. Staff decide here what is approved. */
export function Conversions(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const { amounts } = useRoleFigures();
  const [search, change] = useAddress();
  const [isNew, setNew] = useIsNew();
  const [isLive, setLive] = useState(false);
  const isStaff = role === "admin" || role === "analyst";
  const filters = isStaff ? [...FILTERS, ...OF_STAFF] : FILTERS;
  const mayDecide = role === "admin" && mayDo(membership, "conversions.write");
  const open = search.get("open");
  const columns = columnsFor(membership, amounts);
  const sort = givenSort(search, columns);
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Conversions</h1>
        <label className="row">
          <input type="checkbox" checked={isLive} onChange={() => setLive(!isLive)} /> Live
        </label>
        <RangeBar />
      </div>
      <CountedNote search={search} onChange={change} />
      <RecordList<Conversion>
        title="Conversions"
        isTitled={false}
        name="conversions"
        filters={filters}
        fixed={countedQuery(search)}
        order="-conv_ts"
        load={async (query, signal) =>
          await read(api.GET("/conversions", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => id}
        decided={CONVERSIONS}
        everyMs={isLive ? LIVE_MS : undefined}
        onOpen={({ id }) => change({ open: id })}
        nothing={<strong>No conversions in this range</strong>}
        actions={
          <>
            <CsvButton
              path="/conversions"
              query={{
                ...countedQuery(search),
                ...givenFilters(search, filters),
                ...(sort === undefined ? {} : { sort }),
              }}
            />
            {mayDecide && (
              <button type="button" className="button" onClick={() => setNew(true)}>
                <Plus size={14} aria-hidden /> Record a conversion
              </button>
            )}
          </>
        }
        {...(mayDecide
          ? { bulk: (rows, chosen) => <ReviewActions rows={rows} chosen={chosen} /> }
          : {})}
      />
      {isNew && mayDecide && (
        <RecordByHand
          onClose={() => setNew(false)}
          onMade={(id) => change({ new: undefined, open: id })}
        />
      )}
      {open !== null && <ConversionDrawer id={open} onClose={() => change({ open: undefined })} />}
    </>
  );
}

/** Columns of conversions for a role. */
export function columnsFor(
  { zone, role, membershipId }: Membership,
  amounts: RoleFigures["amounts"],
): readonly Column<Conversion>[] {
  const money = (text: string | undefined, currency: string): string =>
    text === undefined ? "" : formatMoney(text, currency);
  const isAccount = role === "partner" || role === "advertiser";
  const columns: readonly (Column<Conversion> | undefined)[] = [
    {
      name: "at",
      title: "Time",
      opens: true,
      sort: "conv_ts",
      isNewestFirst: true,
      cell: ({ conv_ts: at }) => formatInstant(at, zone),
    },
    {
      name: "status",
      title: "Status",
      isEarly: true,
      cell: ({ id, status }) => (
        <>
          <StatusBadge status={status} />
          <WaitingMark kind={kindIn(membershipId, CONVERSIONS)} of={id} />
        </>
      ),
    },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
    { name: "event", title: "Event", cell: (row) => row.event_code },
    isAccount
      ? undefined
      : {
          name: "partner",
          title: "Partner",
          cell: (row) => <StrangerText text={row.affiliate_name ?? ""} />,
        },
    ...amounts.map(([name, title]) => ({
      name,
      title,
      isNumber: true,
      isEarly: true,
      cell: (row: Conversion) => money(amountOf(row, name), row.currency),
    })),
    {
      name: "sale",
      title: "Sale",
      isNumber: true,
      cell: ({ sale_amount: sale, currency }) => money(sale, currency),
    },
    {
      name: "reason",
      title: "Reason",
      cell: (row) => <StrangerText text={reasonWords(row.status_reason)} />,
    },
    { name: "country", title: "Country", cell: ({ country }) => formatCountry(country) },
    role === "advertiser"
      ? undefined
      : { name: "sub1", title: "Sub 1", cell: ({ sub1 = "" }) => <StrangerText text={sub1} /> },
  ];
  return columns.filter((column) => column !== undefined);
}
