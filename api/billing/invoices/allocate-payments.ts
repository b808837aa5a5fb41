import { type Amount, amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";

type OpenInvoice = { readonly id: number; readonly open: string };
/** What a payment has left. */
type Credit = {
  readonly id: number;
  readonly unapplied: string;
  readonly invoice_ids: readonly number[];
};

export type Allocation = {
  readonly payment_id: number;
  readonly invoice_id: number;
  readonly amount: Amount;
};

/**
 * Covers open invoices of an account by what its payments have left, oldest payment first: the invoices that the payment names, then the
 * oldest. Answers the invoices that are paid now and were not before. Must run under the lock of the account.
 */
export async function allocatePayments(tx: Queryable, accountId: number): Promise<number[]> {
  const credits = await readCredits(tx, accountId);
  if (credits.length === 0) return [];
  const allocations = allocationsOf(await readOpenInvoices(tx, accountId), credits);
  await insertAllocations(tx, allocations);
  return await coverInvoices(
    tx,
    allocations.map(({ invoice_id }) => invoice_id),
  );
}

/** Takes back what covers an invoice, or what a payment covers. The invoices have less covered then. */
export async function freeAllocations(
  tx: Queryable,
  of: { readonly invoiceId: number } | { readonly paymentId: number },
): Promise<void> {
  const { rows } = await tx.query<{ invoice_id: number }>({
    name: "free-allocations",
    text: `insert into payment_allocation (payment_id, invoice_id, amount)
           select payment_id, invoice_id, -sum(amount) from payment_allocation
           where invoice_id = $1 or payment_id = $2
           group by payment_id, invoice_id having sum(amount) <> 0
           returning invoice_id`,
    values: ["invoiceId" in of ? of.invoiceId : null, "paymentId" in of ? of.paymentId : null],
  });
  await coverInvoices(
    tx,
    rows.map(({ invoice_id }) => invoice_id),
  );
}

/** Which part of which payment covers which invoice. Both lists are in the order in which they are used. */
export function allocationsOf(
  invoices: readonly OpenInvoice[],
  credits: readonly Credit[],
): Allocation[] {
  const open = new Map(invoices.map(({ id, open: amount }) => [id, amountOf(amount)]));
  const allocations: Allocation[] = [];
  for (const { id, unapplied, invoice_ids: named } of credits) {
    let left = amountOf(unapplied);
    for (const invoiceId of new Set([...named, ...open.keys()])) {
      const due = open.get(invoiceId) ?? 0n;
      const amount = due < left ? due : left;
      if (amount <= 0n) continue;
      allocations.push({ payment_id: id, invoice_id: invoiceId, amount });
      open.set(invoiceId, due - amount);
      left -= amount;
    }
  }
  return allocations;
}

async function readOpenInvoices(tx: Queryable, accountId: number): Promise<OpenInvoice[]> {
  const { rows } = await tx.query<OpenInvoice>({
    name: "read-open-invoices",
    text: `select id, gross - paid as open from invoice
           where account_id = $1 and kind = 'invoice' and status in ('sent', 'part_paid') order by period_to, id`,
    values: [accountId],
  });
  return rows;
}

async function readCredits(tx: Queryable, accountId: number): Promise<Credit[]> {
  const { rows } = await tx.query<Credit>({
    name: "read-unapplied-payments",
    text: `select p.id, p.amount - c.applied as unapplied, p.invoice_ids::text[] as invoice_ids
           from ledger_account a
           join advertiser_payment p on p.advertiser_id = a.owner_id and p.currency = a.currency
           cross join lateral (select coalesce(sum(l.amount), 0) as applied from payment_allocation l where l.payment_id = p.id) c
           where a.id = $1 and p.amount > c.applied
             and not exists (select from advertiser_payment_reversal r where r.payment_id = p.id)
           order by p.received_at, p.id`,
    values: [accountId],
  });
  return rows.map((row) => ({ ...row, invoice_ids: row.invoice_ids.map(Number) }));
}

async function insertAllocations(tx: Queryable, allocations: readonly Allocation[]): Promise<void> {
  await tx.query({
    name: "insert-allocations",
    text: `insert into payment_allocation (payment_id, invoice_id, amount)
           select payment_id, invoice_id, amount
           from jsonb_to_recordset($1) as l(payment_id bigint, invoice_id bigint, amount numeric)`,
    values: [
      JSON.stringify(allocations.map((one) => ({ ...one, amount: formatAmount(one.amount) }))),
    ],
  });
}

/** Sets what is covered, and the status that follows, of invoices that are not credited. Answers those that are paid by it. */
async function coverInvoices(tx: Queryable, invoiceIds: readonly number[]): Promise<number[]> {
  if (invoiceIds.length === 0) return [];
  const { rows } = await tx.query<{ id: number; is_paid: boolean }>({
    name: "cover-invoices",
    text: `update invoice i
           set paid = c.amount,
             status = case when i.status = 'credited' then i.status when c.amount = i.gross then 'paid'
               when c.amount > 0 then 'part_paid' else 'sent' end
           from (select l.invoice_id, sum(l.amount) as amount from payment_allocation l
             where l.invoice_id = any($1::bigint[]) group by l.invoice_id) c
           where i.id = c.invoice_id and i.status in ('sent', 'part_paid', 'paid', 'credited')
           returning i.id, i.status = 'paid' as is_paid`,
    values: [[...new Set(invoiceIds)]],
  });
  return rows.filter(({ is_paid }) => is_paid).map(({ id }) => id);
}
