import { Upload } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { UploadCosts } from "./upload-costs.tsx";

type AdCost = components["schemas"]["AdCost"];

const FILTERS: readonly ListFilter[] = [
  { name: "from", label: "From", isDay: true },
  { name: "to", label: "Until", isDay: true, notBefore: "from" },
  { name: "traffic_source", label: "Traffic source" },
  { name: "currency", label: "Currency", load: currencyChoices },
  { name: "offer_id", label: "Offer", load: offerIdChoices },
  { name: "affiliate_id", label: "Partner", load: affiliateIdChoices },
];

const COLUMNS: readonly Column<AdCost>[] = [
  {
    name: "date",
    title: "Day",
    cell: ({ date, hour }) =>
      hour === null ? formatDay(date) : `${formatDay(date)}, ${String(hour).padStart(2, "0")}:00`,
  },
  {
    name: "amount",
    title: "Amount",
    isNumber: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
  { name: "source", title: "Source", cell: (row) => <StrangerText text={row.traffic_source} /> },
  {
    name: "campaign",
    title: "Campaign",
    cell: (row) => <StrangerText text={row.ext_campaign_id} />,
  },
  { name: "adgroup", title: "Ad group", cell: (row) => <StrangerText text={row.ext_adgroup_id} /> },
  {
    name: "offer",
    title: "Offer",
    cell: (row) => row.offer_id !== null && <RecordName of={offerIdChoices} id={row.offer_id} />,
  },
  {
    name: "partner",
    title: "Partner",
    cell: (row) =>
      row.affiliate_id !== null && <RecordName of={affiliateIdChoices} id={row.affiliate_id} />,
  },
];

/** What was paid to ad platforms, by day. */
export function AdCosts(): ReactElement {
  const membership = useMembership();
  const { api, role } = membership;
  const [isUploading, setUploading] = useState(false);
  const mayWrite = role === "admin" && mayDo(membership, "conversions.write");
  const about = "What you paid to ad platforms. Reports subtract it from the profit.";
  return (
    <>
      <p className="muted">{about}</p>
      <RecordList<AdCost>
        title="Ad costs"
        name="ad-costs"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/ad-costs", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        nothing={<strong>No ad costs yet</strong>}
        actions={
          mayWrite && (
            <button type="button" className="button first" onClick={() => setUploading(true)}>
              <Upload size={14} aria-hidden /> Add costs
            </button>
          )
        }
      />
      {isUploading && <UploadCosts onClose={() => setUploading(false)} />}
    </>
  );
}
