import type { ReactElement } from "react";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import type { InvoiceDetail } from "./invoice.ts";
import { PeriodText } from "./period-text.tsx";

/** Period and amounts of an invoice. */
export function InvoiceTotals({ invoice }: { readonly invoice: InvoiceDetail }): ReactElement {
  const { role } = useMembership();
  const { currency, tax, kind, status } = invoice;
  const money = (amount: string): string | null =>
    amount === "0.0000" ? null : formatMoney(amount, currency);
  const isCredit = kind === "credit_note";
  const isStaff = role === "admin" || role === "analyst";
  const facts: readonly Fact[] = [
    ["Period", <PeriodText key="period" invoice={invoice} />],
    ["Carried from the last invoice", money(invoice.carried_in)],
    ["Total", formatMoney(invoice.total, currency)],
    ["Carried to the next invoice", money(invoice.carried_out)],
    ["Net amount", formatMoney(invoice.payable, currency)],
    [
      tax.mode === "domestic" ? `Tax ${tax.rate.replace(/\.?0+$/, "")} %` : "Tax",
      formatMoney(invoice.tax_amount, currency),
    ],
    ["Tax text", tax.text],
    [isCredit ? "Credited" : "To be paid", formatMoney(invoice.gross, currency)],
    ["Paid", money(invoice.paid)],
    ["Open", money(invoice.open)],
    ["Due", isCredit || status === "carried" ? null : formatDay(invoice.due_on)],
    ["Reason", invoice.reason],
    [
      "Approved",
      invoice.approved_at === null ? null : (
        <InstantText key="approved" iso={invoice.approved_at} />
      ),
    ],
    ["Takes back", isStaff ? otherLink(invoice.credits_id, "The invoice") : null],
    ["Credited by", isStaff ? otherLink(invoice.credited_by_id, "The credit note") : null],
  ];
  return (
    <section className="panel stack">
      <h2>Amounts</h2>
      <Facts facts={facts} />
    </section>
  );
}

function otherLink(id: number | null, words: string): ReactElement | null {
  if (id === null) return null;
  return (
    <RecordLink path="/money/invoices" id={id}>
      {words}
    </RecordLink>
  );
}
