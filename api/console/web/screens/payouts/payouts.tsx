import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { NewRun } from "./new-run.tsx";
import type { PayoutRunSummary } from "./payout.ts";

const FILTERS: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [
      ["draft", "Draft"],
      ["approved", "Approved"],
      ["paid", "Paid"],
      ["failed", "Failed"],
      ["cancelled", "Cancelled"],
    ],
  },
  { name: "currency", label: "Currency", load: currencyChoices },
];

const COLUMNS: readonly Column<PayoutRunSummary>[] = [
  {
    name: "run",
    title: "Run",
    cell: ({ id }) => (
      <RecordLink path="/money/payouts" id={id}>
        Run {id}
      </RecordLink>
    ),
  },
  {
    name: "status",
    title: "Status",
    isEarly: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    name: "total",
    title: "Total",
    isNumber: true,
    isEarly: true,
    cell: ({ total, currency }) => formatMoney(total, currency),
  },
  {
    name: "lines",
    title: "Payments",
    isNumber: true,
    cell: ({ line_count: count }) => formatCount(count),
  },
  {
    name: "paid",
    title: "Paid",
    isNumber: true,
    cell: ({ paid_count: count }) => formatCount(count),
  },
  {
    name: "held",
    title: "Held",
    isNumber: true,
    cell: ({ held_count: count }) => formatCount(count),
  },
  { name: "execution", title: "Execution date", cell: (row) => formatDay(row.execution_date) },
  { name: "currency", title: "Currency", cell: ({ currency }) => currency },
];

/** What is paid to partners, run by run. */
export function Payouts(): ReactElement {
  const { api, role } = useMembership();
  const [isNew, setNew] = useState(false);
  return (
    <>
      <h1>Payouts</h1>
      <RecordList<PayoutRunSummary>
        title="Payout runs"
        name="payout-runs"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/payout-runs", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        nothing={
          <>
            <strong>No payout runs yet</strong>
            <p className="muted">A run pays the approved statements that are due.</p>
          </>
        }
        actions={
          role === "admin" && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> New run
            </button>
          )
        }
      />
      {isNew && <NewRun onClose={() => setNew(false)} />}
    </>
  );
}
