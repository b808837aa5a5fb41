import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { courseColumn } from "../charts/course-cell.tsx";
import { type Offer, termText } from "./offer.ts";

export const OFFER_COLUMNS: readonly Column<Offer>[] = [
  { name: "name", title: "Offer", opens: true, cell: ({ name }) => <StrangerText text={name} /> },
  { name: "code", title: "Code", cell: ({ code }) => <code>{code}</code> },
  { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  { name: "visibility", title: "Visibility", cell: ({ visibility }) => visibility },
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
  courseColumn("offer"),
  { name: "events", title: "Events", isNumber: true, cell: ({ events }) => events.length },
  { name: "tags", title: "Tags", cell: ({ tags }) => <StrangerText text={tags.join(", ")} /> },
];
