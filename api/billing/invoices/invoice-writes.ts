import { queueBillingEvent } from "../../../schemas/billing/billing-event.ts";
import { type BillingState, readBillingState } from "../../../schemas/billing/billing-state.ts";
import { takeNumber } from "../../../schemas/billing/document-number.ts";
import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { type Invoice, readInvoice } from "../../../schemas/billing/read-invoices.ts";
import { lockReceivable } from "../../../schemas/billing/receivables.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { conflict, notFound } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { type Actor, keyIdOf } from "../../operation/principal.ts";
import { allocatePayments } from "./allocate-payments.ts";
import { readParties } from "./invoice-parties.ts";

const PREFIX = "I-{year}-";

/** Who acts, as records of money keep it. */
export function actorOf(actor: Actor): {
  readonly keyId: number | undefined;
  readonly personId: number | undefined;
} {
  return {
    keyId: keyIdOf(actor) ?? undefined,
    personId: actor.kind === "person" ? actor.id : undefined,
  };
}

/** An invoice under the lock of its account, which everything that changes it takes first. */
export type LockedInvoice = {
  readonly tx: Queryable;
  readonly accountId: number;
  readonly invoice: Invoice;
};

/** Changes an invoice in a transaction; answers it as it is afterwards. */
export async function changeInvoice(
  context: OperationContext,
  id: number,
  change: (locked: LockedInvoice) => Promise<number>,
): Promise<Invoice> {
  try {
    return await inTransaction(context.db, (tx) => changeLocked(tx, context, { id, change }));
  } catch (error) {
    if (violatedConstraint(error) !== "invoice_number") throw error;
    throw conflict(
      "invoice_prefix",
      "another document has the next number of this series: change the prefix of invoices",
    );
  }
}

async function changeLocked(
  tx: Queryable,
  { workspace }: OperationContext,
  {
    id,
    change,
  }: {
    readonly id: number;
    readonly change: (locked: LockedInvoice) => Promise<number>;
  },
): Promise<Invoice> {
  const { rows } = await tx.query<{ account_id: number }>({
    name: "find-account-of-invoice",
    text: "select account_id from invoice where workspace_id = $1 and id = $2",
    values: [workspace.id, id],
  });
  const accountId = rows[0]?.account_id;
  if (accountId === undefined) throw notFound("invoice");
  await lockReceivable(tx, accountId);
  const invoice = await readInvoice(tx, workspace.id, { id });
  if (invoice === undefined) throw notFound("invoice");
  const changedId = await change({ tx, accountId, invoice });
  const changed = await readInvoice(tx, workspace.id, { id: changedId });
  if (changed === undefined) throw notFound("invoice");
  return changed;
}

/** Sends a draft: number, tax, both sides as they are now, and how much of it earlier payments cover (N49, N58). */
export async function approveInvoice(
  context: OperationContext,
  { tx, accountId, invoice }: LockedInvoice,
): Promise<number> {
  const { workspace, principal, nowMs } = context;
  if (invoice.status !== "draft")
    throw conflict("status", `only a draft can be approved, and this invoice is ${invoice.status}`);
  const state = await approvableState(tx, workspace.id);
  const parties = await readParties(tx, workspace, { advertiserId: invoice.advertiser_id, state });
  const { id, timezone, currency } = invoice;
  const number = await takeNumber(tx, workspace.id, {
    kind: "invoice",
    prefix: state?.invoice_prefix ?? PREFIX,
    timezone,
    atMs: nowMs,
  });
  const { keyId, personId } = actorOf(principal.actor);
  await tx.query({
    name: "approve-invoice",
    text: `update invoice set status = 'sent', number = $2, parties = $3, approved_at = clock_timestamp(), approved_key_id = $4,
             approved_person_id = $5 where id = $1`,
    values: [id, number, JSON.stringify(parties), keyId ?? null, personId ?? null],
  });
  const tax = amountOf(invoice.tax_amount);
  if (tax !== 0n) {
    const owner = { account: "advertiser_receivable", ownerId: invoice.advertiser_id } as const;
    await postLedger(tx, workspace.id, [
      {
        kind: "invoice_tax",
        sourceKind: "invoice_tax",
        sourceId: String(id),
        description: number,
        keyId,
        personId,
        entries: [
          { ...owner, currency, amount: tax },
          { account: "tax_out", ownerId: 0, currency, amount: -tax },
        ],
      },
    ]);
  }
  await tellPaid(tx, context, await allocatePayments(tx, accountId));
  return id;
}

/** Only the newest invoice of an account may be made void, because a later one has carried its rest in. Its period is free again. */
export async function voidInvoice({ tx, accountId, invoice }: LockedInvoice): Promise<number> {
  if (invoice.status !== "draft" && invoice.status !== "carried") {
    throw conflict(
      "status",
      `only a draft or a carried invoice can be made void, and this one is ${invoice.status}`,
    );
  }
  const { rows } = await tx.query<{ id: number }>({
    name: "find-newest-invoice",
    text: `select id from invoice where account_id = $1 and kind = 'invoice' and status <> 'void'
           order by to_seq desc, period_to desc limit 1`,
    values: [accountId],
  });
  if (rows[0]?.id !== invoice.id)
    throw conflict("status", "a later invoice continues this one: make the later one void first");
  await tx.query({
    name: "void-invoice",
    text: "update invoice set status = 'void', voided_at = clock_timestamp() where id = $1",
    values: [invoice.id],
  });
  return invoice.id;
}

/** Queues `invoice.paid` for each of the invoices. */
export async function tellPaid(
  tx: Queryable,
  { workspace, requestId, trace }: OperationContext,
  invoiceIds: readonly number[],
): Promise<void> {
  const cause = { request_id: requestId, traceparent: trace?.traceparent };
  for (const id of invoiceIds) {
    const makeData = async () => await readInvoice(tx, workspace.id, { id });
    await queueBillingEvent(tx, workspace.id, "invoice.paid", { cause, makeData });
  }
}

/** @throws {ApiError} `conflict` while the last audit has found violations (N42). */
async function approvableState(
  tx: Queryable,
  workspaceId: number,
): Promise<BillingState | undefined> {
  const state = await readBillingState(tx, workspaceId);
  if (state?.has_violations === true) {
    throw conflict(
      "audit",
      "the last audit of the ledger has found violations, so nothing is approved: see GET /billing/audit",
    );
  }
  return state;
}
