import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordForm } from "../../records/record-form.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { EnterPayment } from "./enter-payment.tsx";
import { MONEY_NAMES, type Payment } from "./invoice.ts";

const FILTERS: readonly ListFilter[] = [
  { name: "advertiser_id", label: "Advertiser", load: advertiserChoices },
  { name: "currency", label: "Currency", load: currencyChoices },
  { name: "external_id", label: "Reference" },
];

const COLUMNS: readonly Column<Payment>[] = [
  {
    name: "reference",
    title: "Reference",
    opens: true,
    cell: (row) => <StrangerText text={row.external_id} />,
  },
  {
    name: "advertiser",
    title: "Advertiser",
    cell: (row) => <StrangerText text={row.advertiser_name} />,
  },
  {
    name: "amount",
    title: "Amount",
    isNumber: true,
    isEarly: true,
    cell: (row) => formatMoney(row.amount, row.currency),
  },
  {
    name: "credit",
    title: "Left as credit",
    isNumber: true,
    cell: (row) => formatMoney(row.unapplied, row.currency),
  },
  {
    name: "state",
    title: "State",
    cell: (row) => <StatusBadge status={row.reversed_at === null ? "accepted" : "reversed"} />,
  },
  { name: "received", title: "Received", cell: (row) => <InstantText iso={row.received_at} /> },
];

/** What advertisers paid. */
export function Payments(): ReactElement {
  const { api, role } = useMembership();
  const [isNew, setNew] = useState(false);
  const [opened, setOpened] = useState<Payment>();
  return (
    <>
      <RecordList<Payment>
        title="Payments"
        name="payments"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/payments", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={setOpened}
        nothing={<strong>No payments yet</strong>}
        actions={
          role === "admin" && (
            <button type="button" className="button first" onClick={() => setNew(true)}>
              <Plus size={14} aria-hidden /> Enter payment
            </button>
          )
        }
      />
      {isNew && <EnterPayment onClose={() => setNew(false)} />}
      {opened !== undefined && (
        <PaymentDrawer payment={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

function PaymentDrawer({
  payment,
  onClose,
}: {
  readonly payment: Payment;
  readonly onClose: () => void;
}): ReactElement {
  const { api, role } = useMembership();
  const { id, currency, allocations } = payment;
  const reverse = useWrite(MONEY_NAMES, async (reason: string) => {
    const params = { path: { id } };
    await read(api.POST("/payments/{id}/reverse", { params, body: { reason } }));
    onClose();
  });
  return (
    <Drawer title="Payment" onClose={onClose}>
      <Facts
        facts={[
          ["Reference", payment.external_id],
          ["Advertiser", payment.advertiser_name],
          ["Amount", formatMoney(payment.amount, currency)],
          ["Left as credit", formatMoney(payment.unapplied, currency)],
          ["Received", <InstantText key="received" iso={payment.received_at} />],
          ["Entered", <InstantText key="entered" iso={payment.created_at} />],
          ["Note", payment.note],
          ["Reversed because", payment.reversal_reason],
        ]}
      />
      {allocations.length > 0 && (
        <section className="stack tight">
          <h3>Settles</h3>
          <ul className="plain-list">
            {allocations.map(({ invoice_id, number, amount }) => (
              <li key={invoice_id} className="row">
                <RecordLink
                  path="/money/invoices"
                  id={invoice_id}
                >{`Invoice ${number}`}</RecordLink>
                <span className="grow" />
                <span>{formatMoney(amount, currency)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {role === "admin" && payment.reversed_at === null && (
        <section className="stack tight">
          <h3>Entered by mistake</h3>
          <p className="muted">
            Reversing takes the payment back. The invoices that it settled are open again.
          </p>
          <RecordForm
            fields={[{ name: "reason", label: "Reason", required: true }]}
            submit="Reverse the payment"
            onSubmit={async ({ reason = "" }) => await reverse.mutateAsync(String(reason))}
          />
        </section>
      )}
    </Drawer>
  );
}
