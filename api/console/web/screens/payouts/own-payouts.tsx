import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { accountText, type Method, type PayoutLine } from "./payout.ts";
import { useMethods } from "./use-methods.ts";

function columnsOf(wordsOf: (method: Method) => string): readonly Column<PayoutLine>[] {
  return [
    { name: "reference", title: "Reference", cell: ({ reference }) => reference },
    {
      name: "status",
      title: "Status",
      isEarly: true,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      isEarly: true,
      cell: ({ amount, currency }) => formatMoney(amount, currency),
    },
    { name: "execution", title: "Execution date", cell: (row) => formatDay(row.execution_date) },
    {
      name: "settled",
      title: "Settled",
      cell: ({ settled_at: at }) => (at === null ? "" : <InstantText iso={at} />),
    },
    { name: "method", title: "Paid by", cell: ({ method }) => wordsOf(method) },
    { name: "account", title: "Account", cell: (row) => <StrangerText text={accountText(row)} /> },
    { name: "statements", title: "Statements", cell: ({ statements }) => statements.join(", ") },
    { name: "error", title: "Went wrong", cell: (row) => <StrangerText text={row.error} /> },
  ];
}

/** What was paid to the partner who looks, or is on its way. */
export function OwnPayouts(): ReactElement {
  const { api } = useMembership();
  const { wordsOf } = useMethods();
  return (
    <>
      <h1>Payouts</h1>
      <RecordList<PayoutLine>
        title="Your payouts"
        name="own-payouts"
        load={async (query, signal) =>
          await read(api.GET("/me/payouts", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columnsOf(wordsOf)}
        keyOf={({ id }) => String(id)}
        nothing={
          <>
            <strong>No payouts yet</strong>
            <p className="muted">You see a payout here once it is on its way.</p>
          </>
        }
      />
    </>
  );
}
