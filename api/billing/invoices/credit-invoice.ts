import { readBillingState } from "../../../schemas/billing/billing-state.ts";
import { takeNumber } from "../../../schemas/billing/document-number.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import type { Invoice } from "../../../schemas/billing/read-invoices.ts";
import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { conflict } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { allocatePayments, freeAllocations } from "./allocate-payments.ts";
import { readParties } from "./invoice-parties.ts";
import { actorOf, type LockedInvoice, tellPaid } from "./invoice-writes.ts";

/** Before the prefix of invoices, so that credit notes have a series of their own. */
const CREDIT_NOTE = "C-";
const PREFIX = "I-{year}-";
const CREDITABLE: ReadonlySet<string> = new Set(["sent", "part_paid", "paid"]);

/**
 * Takes back what an invoice claims, by a document of its own: the gross amount against `adjustment_cost` and the tax. The entries of the
 * invoice stay in its range, so they are on no other invoice, and neither is the entry of the credit note. What payments covered of it is
 * credit again. Answers the id of the credit note.
 */
export async function creditInvoice(
  context: OperationContext,
  { tx, accountId, invoice }: LockedInvoice,
  reason: string,
): Promise<number> {
  const { workspace, nowMs } = context;
  if (invoice.kind !== "invoice" || !CREDITABLE.has(invoice.status))
    throw conflict("status", "only an invoice that was sent can be credited, and only once");
  const state = await readBillingState(tx, workspace.id);
  const number = await takeNumber(tx, workspace.id, {
    kind: "credit_note",
    prefix: `${CREDIT_NOTE}${state?.invoice_prefix ?? PREFIX}`,
    timezone: invoice.timezone,
    atMs: nowMs,
  });
  const parties = await readParties(tx, workspace, { advertiserId: invoice.advertiser_id, state });
  const id = await insertCreditNote(tx, context, { invoice, accountId, number, reason, parties });
  await tx.query({
    name: "credit-invoice",
    text: "update invoice set status = 'credited' where id = $1",
    values: [invoice.id],
  });
  await postCredit(tx, context, { invoice, id, number });
  await freeAllocations(tx, { invoiceId: invoice.id });
  await tellPaid(tx, context, await allocatePayments(tx, accountId));
  return id;
}

type Credit = {
  readonly invoice: Invoice;
  readonly accountId: number;
  readonly number: string;
  readonly reason: string;
  readonly parties: unknown;
};

async function insertCreditNote(
  tx: Queryable,
  { workspace, principal }: OperationContext,
  { invoice, accountId, number, reason, parties }: Credit,
): Promise<number> {
  const { keyId, personId } = actorOf(principal.actor);
  const payable = formatAmount(-amountOf(invoice.payable));
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-credit-note",
    text: `with made as (
             insert into invoice (workspace_id, advertiser_id, account_id, currency, kind, credits_id, number, status, terms, period_from,
               period_to, timezone, from_seq, to_seq, carried_in, total, payable, tax, tax_amount, gross, carried_out, due_on, parties,
               approved_at, approved_key_id, approved_person_id, reason)
             select workspace_id, advertiser_id, $2, currency, 'credit_note', id, $3, 'sent', terms, period_from, period_to, timezone,
               to_seq, to_seq, 0, -payable, -payable, tax, -tax_amount, -gross, 0, (now() at time zone timezone)::date, $4,
               clock_timestamp(), $5, $6, $7
             from invoice where workspace_id = $1 and id = $8
             returning id
           ), lines as (
             insert into invoice_line (invoice_id, line, kind, count, amount) select id, 1, 'credit', 0, $9::numeric from made
           )
           select id from made`,
    values: [
      workspace.id,
      accountId,
      number,
      JSON.stringify(parties),
      keyId ?? null,
      personId ?? null,
      reason,
      invoice.id,
      payable,
    ],
  });
  const [made] = rows;
  if (made === undefined) throw new Error("no credit note was made");
  return made.id;
}

async function postCredit(
  tx: Queryable,
  { workspace, principal }: OperationContext,
  { invoice, id, number }: { invoice: Invoice; id: number; number: string },
): Promise<void> {
  const { currency } = invoice;
  const tax = amountOf(invoice.tax_amount);
  const ofNetwork = { ownerId: 0, currency };
  await postLedger(tx, workspace.id, [
    {
      kind: "credit_note",
      sourceKind: "credit_note",
      sourceId: String(id),
      description: `${number} credits ${invoice.number ?? ""}`,
      ...actorOf(principal.actor),
      entries: [
        {
          account: "advertiser_receivable",
          ownerId: invoice.advertiser_id,
          currency,
          amount: -amountOf(invoice.gross),
        },
        { account: "adjustment_cost", ...ofNetwork, amount: amountOf(invoice.payable) },
        ...(tax === 0n ? [] : [{ account: "tax_out", ...ofNetwork, amount: tax } as const]),
      ],
    },
  ]);
}
