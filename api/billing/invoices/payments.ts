import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { lockReceivable, receivableOf } from "../../../schemas/billing/receivables.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { conflict, notFound, validationFailed } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { allocatePayments, freeAllocations } from "./allocate-payments.ts";
import { actorOf, tellPaid } from "./invoice-writes.ts";
import { type PaymentRow, readPayment } from "./read-payments.ts";

export type NewPayment = {
  readonly advertiser_id: number;
  readonly currency: string;
  readonly amount: string;
  readonly external_id: string;
  readonly received_at: string;
  readonly note: string;
  readonly invoice_ids: readonly number[];
};

/**
 * Records what an advertiser paid, posts it and covers invoices. The name that the bank gave it makes it one payment, however often it is sent
 * (N58). @throws {ApiError} `conflict` if that name stands for another payment.
 */
export async function recordPayment(
  context: OperationContext,
  payment: NewPayment,
): Promise<{ readonly payment: PaymentRow; readonly isNew: boolean }> {
  const { db, workspace, principal } = context;
  return await inTransaction(db, async (tx) => {
    const known = await findSame(tx, workspace.id, payment);
    if (known !== undefined) return { payment: known, isNew: false };
    const { advertiser_id: advertiserId, currency } = payment;
    const accountId = await receivableOf(tx, workspace.id, { advertiserId, currency });
    await lockReceivable(tx, accountId);
    const { keyId, personId } = actorOf(principal.actor);
    const id = await insertPayment(tx, workspace.id, { ...payment, keyId, personId });
    if (id === undefined) {
      // Another session has sent it meanwhile.
      const sent = await findSame(tx, workspace.id, payment);
      if (sent === undefined) throw new Error("a payment is gone that was there");
      return { payment: sent, isNew: false };
    }
    await assertNamedInvoices(tx, accountId, payment.invoice_ids);
    await postPayment(tx, context, { id, payment, sign: 1n });
    await tellPaid(tx, context, await allocatePayments(tx, accountId));
    return { payment: await seen(tx, workspace.id, id), isNew: true };
  });
}

/**
 * Takes back a payment that was entered by mistake, once: the opposite is posted, and what it covered is open again.
 * @throws {ApiError} `conflict` if it was taken back before.
 */
export async function reversePayment(
  context: OperationContext,
  id: number,
  reason: string,
): Promise<PaymentRow> {
  const { db, workspace, principal } = context;
  return await inTransaction(db, async (tx) => {
    const payment = await readPayment(tx, workspace.id, id);
    if (payment === undefined) throw notFound("payment");
    const { advertiser_id: advertiserId, currency } = payment;
    const accountId = await receivableOf(tx, workspace.id, { advertiserId, currency });
    await lockReceivable(tx, accountId);
    const { keyId, personId } = actorOf(principal.actor);
    const { rowCount } = await tx.query({
      name: "insert-payment-reversal",
      text: `insert into advertiser_payment_reversal (payment_id, reason, key_id, person_id) values ($1, $2, $3, $4)
             on conflict do nothing`,
      values: [id, reason, keyId ?? null, personId ?? null],
    });
    if (rowCount === 0) throw conflict("status", "this payment has been reversed before");
    await postPayment(tx, context, { id, payment, sign: -1n });
    await freeAllocations(tx, { paymentId: id });
    // What it covered may be covered by what other payments have left.
    await tellPaid(tx, context, await allocatePayments(tx, accountId));
    return await seen(tx, workspace.id, id);
  });
}

/** The payment of this name. @throws {ApiError} `conflict` if it says anything else. */
async function findSame(
  tx: Queryable,
  workspaceId: number,
  payment: NewPayment,
): Promise<PaymentRow | undefined> {
  const { rows } = await tx.query<{ id: number }>({
    name: "find-payment-by-name",
    text: "select id from advertiser_payment where workspace_id = $1 and external_id = $2",
    values: [workspaceId, payment.external_id],
  });
  const id = rows[0]?.id;
  const known = id === undefined ? undefined : await readPayment(tx, workspaceId, id);
  if (known === undefined) return undefined;
  const isSame =
    known.advertiser_id === payment.advertiser_id &&
    known.currency === payment.currency &&
    known.amount === payment.amount &&
    known.received_at === payment.received_at &&
    known.note === payment.note &&
    known.invoice_ids.join() === payment.invoice_ids.join();
  if (!isSame) throw conflict("external_id", "another payment has this external_id");
  return known;
}

async function insertPayment(
  tx: Queryable,
  workspaceId: number,
  payment: NewPayment & {
    readonly keyId: number | undefined;
    readonly personId: number | undefined;
  },
): Promise<number | undefined> {
  const { rows } = await tx.query<{ id: number }>({
    name: "insert-payment",
    text: `insert into advertiser_payment (workspace_id, advertiser_id, currency, amount, external_id, received_at, note, invoice_ids,
             key_id, person_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           on conflict (workspace_id, external_id) do nothing returning id`,
    values: [
      workspaceId,
      payment.advertiser_id,
      payment.currency,
      payment.amount,
      payment.external_id,
      payment.received_at,
      payment.note,
      payment.invoice_ids,
      payment.keyId ?? null,
      payment.personId ?? null,
    ],
  });
  return rows[0]?.id;
}

/** @throws {ApiError} `validation_failed` for an invoice that is not open in this account. */
async function assertNamedInvoices(
  tx: Queryable,
  accountId: number,
  invoiceIds: readonly number[],
): Promise<void> {
  if (invoiceIds.length === 0) return;
  const { rows } = await tx.query<{ id: number }>({
    name: "find-named-invoices",
    text: `select id from invoice where account_id = $1 and kind = 'invoice' and status in ('sent', 'part_paid')
             and id = any($2::bigint[])`,
    values: [accountId, invoiceIds],
  });
  const open = new Set(rows.map(({ id }) => id));
  const wrong = invoiceIds.find((id) => !open.has(id));
  if (wrong !== undefined) {
    throw validationFailed({
      invoice_ids: `${wrong} is not an open invoice of this advertiser in this currency`,
    });
  }
}

async function postPayment(
  tx: Queryable,
  { workspace, principal }: OperationContext,
  {
    id,
    payment,
    sign,
  }: {
    readonly id: number;
    readonly payment: Pick<NewPayment, "advertiser_id" | "currency" | "amount" | "external_id">;
    /** 1 for the payment, -1 for what takes it back. */
    readonly sign: 1n | -1n;
  },
): Promise<void> {
  const { advertiser_id: ownerId, currency, external_id } = payment;
  const amount = sign * amountOf(payment.amount);
  await postLedger(tx, workspace.id, [
    {
      kind: "payment",
      sourceKind: sign > 0n ? "payment" : "payment_reversal",
      sourceId: String(id),
      description: external_id,
      ...(sign > 0n ? {} : { reversesId: await transactionOf(tx, workspace.id, id) }),
      ...actorOf(principal.actor),
      entries: [
        { account: "clearing", ownerId: 0, currency, amount },
        { account: "advertiser_receivable", ownerId, currency, amount: -amount },
      ],
    },
  ]);
}

async function transactionOf(
  tx: Queryable,
  workspaceId: number,
  paymentId: number,
): Promise<number> {
  const { rows } = await tx.query<{ id: number }>({
    name: "find-transaction-of-payment",
    text: "select id from ledger_transaction where workspace_id = $1 and source_kind = 'payment' and source_id = $2",
    values: [workspaceId, String(paymentId)],
  });
  const id = rows[0]?.id;
  if (id === undefined) throw new Error(`payment ${paymentId} is not in the ledger`);
  return id;
}

async function seen(tx: Queryable, workspaceId: number, id: number): Promise<PaymentRow> {
  const payment = await readPayment(tx, workspaceId, id);
  if (payment === undefined) throw notFound("payment");
  return payment;
}
