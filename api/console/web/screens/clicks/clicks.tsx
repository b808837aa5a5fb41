import { type ReactElement, useState } from "react";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress, type Page } from "../../client/lists.ts";
import { formatCountry } from "../../format/country.ts";
import { formatInstant } from "../../format/time.ts";
import { clickReasonWords, linkWords, statusWords } from "../../format/value-words.ts";
import { type Membership, useMembership } from "../../member/membership.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RangeBar } from "../../range/range-bar.tsx";
import { countedQuery } from "../../records/counted-query.ts";
import { countryChoices } from "../../records/known-choices.ts";
import { givenFilters, type ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { CountedNote } from "../reports/counted-note.tsx";
import { ClickDrawer } from "./click-drawer.tsx";
import { completeUntil, missingSince } from "./missing-since.ts";

/** Fields that the list and the look-up by an ad platform's ID share, and more fields of the list. */
type ClickRow = {
  readonly click_id: string;
  readonly ts: string;
  readonly link_type: string;
  readonly traffic_source: string;
  readonly status?: string;
  readonly status_reason?: string;
  readonly offer_label?: string;
  readonly affiliate_label?: string;
  readonly country?: string;
  readonly device_type?: string;
  readonly is_unique?: boolean;
  readonly sub1?: string;
};

const FILTERS: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [
      ["redirect", "Redirected"],
      ["fallback", "Fallback"],
      ["blocked", "Blocked"],
      ["none", "Not redirected"],
    ],
  },
  { name: "offer_id", label: "Offer", load: offerIdChoices },
  { name: "country", label: "Country", load: countryChoices },
  { name: "sub1", label: "Sub 1" },
  { name: "click_id", label: "Click ID" },
  { name: "gclid", label: "gclid" },
];

const OF_STAFF: readonly ListFilter[] = [
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
];

/** Clicks of a range, the newest first. */
export function Clicks(): ReactElement {
  const membership = useMembership();
  const { api, zone, role } = membership;
  const filters = role === "partner" ? FILTERS : [...OF_STAFF, ...FILTERS];
  const [search, change] = useAddress();
  const [isLive, setLive] = useState(false);
  const [missing, setMissing] = useState<string>();
  const open = search.get("open");
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Clicks</h1>
        <label className="row">
          <input type="checkbox" checked={isLive} onChange={() => setLive(!isLive)} /> Live
        </label>
        <RangeBar />
      </div>
      <CountedNote search={search} onChange={change} />
      {missing !== undefined && !search.has("filters") && (
        <p className="muted">{missingText(missing, zone)}</p>
      )}
      <RecordList<ClickRow>
        title="Clicks"
        isTitled={false}
        name="clicks"
        filters={filters}
        fixed={countedQuery(search)}
        everyMs={isLive ? LIVE_MS : undefined}
        load={async (query, signal): Promise<Page<ClickRow>> => {
          const asked = { params: { query: fromAddress(query) }, signal };
          const answer = api.GET("/clicks", asked);
          const page = await read(answer);
          const until = completeUntil((await answer).response);
          // A look-up has every click.
          const isList = !("click_ids" in page);
          setMissing(isList ? missingSince({ until, to: page.range.to }, Date.now()) : undefined);
          return page;
        }}
        columns={columnsFor(membership)}
        keyOf={({ click_id: id }) => id}
        onOpen={({ click_id: id }) => change({ open: id })}
        nothing={<strong>No clicks in this range</strong>}
        actions={
          <CsvButton
            path="/clicks"
            query={{ ...countedQuery(search), ...givenFilters(search, filters) }}
          />
        }
      />
      {open !== null && <ClickDrawer id={open} onClose={() => change({ open: undefined })} />}
    </>
  );
}

const LIVE_MS = 3_000;

function missingText(since: string, zone: string): string {
  return since === "unknown"
    ? "The newest clicks may be missing."
    : `Clicks since ${formatInstant(since, zone)} may be missing. They follow by themselves.`;
}

function columnsFor({ zone, role }: Membership): readonly Column<ClickRow>[] {
  const columns: readonly (Column<ClickRow> | undefined)[] = [
    { name: "at", title: "Time", opens: true, cell: ({ ts }) => formatInstant(ts, zone) },
    { name: "status", title: "Status", cell: ({ status = "" }) => <StatusBadge status={status} /> },
    { name: "reason", title: "Reason", cell: (row) => clickReasonWords(row.status_reason ?? "") },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_label ?? ""} /> },
    role === "partner"
      ? undefined
      : {
          name: "partner",
          title: "Partner",
          cell: (row) => <StrangerText text={row.affiliate_label ?? ""} />,
        },
    { name: "link", title: "Link", cell: (row) => linkWords(row.link_type) },
    { name: "country", title: "Country", cell: ({ country = "" }) => formatCountry(country) },
    {
      name: "device",
      title: "Device",
      cell: ({ device_type: device = "" }) => statusWords(device),
    },
    {
      name: "source",
      title: "Traffic source",
      cell: (row) => <StrangerText text={row.traffic_source} />,
    },
    { name: "sub1", title: "Sub 1", cell: ({ sub1 = "" }) => <StrangerText text={sub1} /> },
    { name: "unique", title: "Unique", cell: (row) => (row.is_unique === true ? "Yes" : "") },
  ];
  return columns.filter((column) => column !== undefined);
}
