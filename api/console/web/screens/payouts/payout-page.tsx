import type { ReactElement } from "react";
import { amountOf, formatAmount } from "../../../../../schemas/money/amount.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordPage, useRecordId } from "../../records/record-page.tsx";
import { HeldLines } from "./held-lines.tsx";
import { formatOf, type PayoutLine, type PayoutRun } from "./payout.ts";
import { PayoutActions } from "./payout-actions.tsx";
import { dueColumns } from "./payout-columns.tsx";
import { PayoutFiles } from "./payout-files.tsx";
import { PayoutResults } from "./payout-results.tsx";
import { useMethods } from "./use-methods.ts";

type NamedRun = PayoutRun & { readonly name: string };

const LIST = { path: "/money/payouts", title: "Payouts" };

/** One payout run: who waits and why, who is paid, and what the bank said. */
export function PayoutPage(): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const id = useRecordId();
  const record = useRecord<NamedRun>(membership, {
    name: "payout-run",
    id,
    load: async (signal) => {
      const params = { path: { id } };
      const { data } = await read(api.GET("/payout-runs/{id}", { params, signal }));
      return { ...data, name: `Run ${data.id}` };
    },
  });
  return (
    <RecordPage<NamedRun>
      list={LIST}
      noun="Payout run"
      record={record}
      head={(run) => (
        <>
          <StatusBadge status={run.status} />
          <span>
            {formatCount(run.line_count)} {run.line_count === 1 ? "payment" : "payments"} with{" "}
            {formatMoney(run.total, run.currency)}
          </span>
          {run.held_count > 0 && (
            <span>
              {formatCount(run.held_count)} held with {formatMoney(run.held_total, run.currency)}
            </span>
          )}
        </>
      )}
      tabs={(run) => [{ name: "overview", title: "Overview", content: <Overview run={run} /> }]}
    />
  );
}

function Overview({ run }: { readonly run: PayoutRun }): ReactElement {
  const { role } = useMembership();
  const isAdmin = role === "admin";
  const { status } = run;
  return (
    <>
      <div className="columns apart">
        <section className="panel stack" aria-label="Run">
          <h2>Run</h2>
          <RunFacts run={run} />
        </section>
        {isAdmin && (status === "draft" || status === "approved") && <PayoutActions run={run} />}
      </div>
      {run.held.length > 0 && <HeldLines run={run} />}
      <Lines run={run} />
      {isAdmin && ["approved", "paid", "failed"].includes(status) && <PayoutFiles run={run} />}
      {isAdmin && ["approved", "paid", "failed"].includes(status) && <PayoutResults id={run.id} />}
    </>
  );
}

function RunFacts({ run }: { readonly run: PayoutRun }): ReactElement {
  const { wordsOf } = useMethods();
  const { currency, methods, total, held_total: held } = run;
  return (
    <Facts
      facts={[
        ["Total", formatMoney(total, currency)],
        ["Paid", paidText(run)],
        ["Held", formatMoney(held, currency)],
        ["Ways to pay", methods.length === 0 ? "All" : methods.map(wordsOf).join(", ")],
        ["File", formatOf(run.format)?.[1] ?? "Any"],
        ["Due until", formatDay(run.due_until)],
        ["Execution date", formatDay(run.execution_date)],
        ["Made", <InstantText key="made" iso={run.created_at} />],
        ["Made by", run.created_by],
        [
          "Approved",
          run.approved_at === null ? "" : <InstantText key="approved" iso={run.approved_at} />,
        ],
        ["Approved by", run.approved_by],
      ]}
    />
  );
}

/** Such as "€120.00, 3 of 4": what came back or failed is not paid. */
function paidText({ lines, currency }: PayoutRun): string {
  const paid = lines.filter(({ status }) => status === "paid");
  const sum = paid.reduce((total, { amount }) => total + amountOf(amount), 0n);
  const count = `${formatCount(paid.length)} of ${formatCount(lines.length)}`;
  return `${formatMoney(formatAmount(sum), currency)}, ${count}`;
}

function Lines({ run: { lines, currency } }: { readonly run: PayoutRun }): ReactElement {
  const { wordsOf } = useMethods();
  const due = dueColumns<PayoutLine>(currency, wordsOf);
  const byName = lines.toSorted((a, b) =>
    (a.affiliate_name ?? "").localeCompare(b.affiliate_name ?? ""),
  );
  return (
    <section className="panel stack">
      <h2>Payments</h2>
      {lines.length === 0 ? (
        <p className="muted">Nobody is paid with this run.</p>
      ) : (
        <DataTable<PayoutLine>
          caption="Payments of the run"
          rows={byName}
          keyOf={({ id }) => String(id)}
          columns={[
            ...due.slice(0, 2),
            // Before the account, because a phone shows the first columns.
            {
              name: "status",
              title: "Status",
              cell: ({ status }) => <StatusBadge status={status} />,
            },
            ...due.slice(2),
            { name: "reference", title: "Reference", cell: ({ reference }) => reference },
            {
              name: "statements",
              title: "Statements",
              cell: ({ statements }) => statements.join(", "),
            },
            {
              name: "error",
              title: "Went wrong",
              cell: (row) => <StrangerText text={row.error} />,
            },
          ]}
        />
      )}
    </section>
  );
}
