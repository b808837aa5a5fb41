import { advertiserChoices } from "../../client/choices.ts";
import { statusWords } from "../../format/value-words.ts";
import type { Column } from "../../parts/data-table.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { figureColumns } from "../charts/figure-columns.tsx";
import { type Offer, termText } from "./offer.ts";

export const OFFER_COLUMNS: readonly Column<Offer>[] = [
  {
    name: "name",
    title: "Offer",
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
