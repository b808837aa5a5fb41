import type { Cause } from "../events/cause.ts";
import { amountOf } from "../money/amount.ts";
import type { Pool, Queryable } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type BillingActor, queueBillingEvent } from "./billing-event.ts";
import { type BillingState, readBillingState } from "./billing-state.ts";
import { type MadeStatement, statementDocument } from "./close-account.ts";
import { takeNumber } from "./document-number.ts";
import { postLedger } from "./post-ledger.ts";
import {
  findStatement,
  listStatementLines,
  type StatementParties,
  type StatementRow,
} from "./statements.ts";

export type Approval = {
  readonly workspaceId: number;
  readonly id: number;
  readonly by: BillingActor;
  readonly cause?: Cause | undefined;
};

export type ApprovalResult =
  | { readonly outcome: "approved" | "unchanged"; readonly statement: MadeStatement }
  | { readonly outcome: "missing" | "not_draft" | "violations" };

/**
 * Posts the tax, gives the number and freezes the parties, in one transaction (N49). Whoever comes second finds the statement approved. Locks
 * the statement, then the accounts, then the series: the last lock is the one that others wait for.
 */
export async function approveStatement(pool: Pool, approval: Approval): Promise<ApprovalResult> {
  return await inTransaction(pool, async (tx) => await approve(tx, approval));
}

async function approve(tx: Queryable, approval: Approval): Promise<ApprovalResult> {
  const { workspaceId, id, by, cause } = approval;
  const status = await lockStatement(tx, workspaceId, id);
  const before = await findStatement(tx, workspaceId, id);
  if (status === undefined || before === undefined) return { outcome: "missing" };
  const lines = await listStatementLines(tx, id);
  if (status !== "draft")
    return before.number === null
      ? { outcome: "not_draft" }
      : { outcome: "unchanged", statement: { row: before, lines } };
  const state = await readBillingState(tx, workspaceId);
  if (state === undefined || state.has_violations) return { outcome: "violations" };
  await postTax(tx, before, by);
  const parties = await partiesOf(tx, before, state);
  const number = await nextNumber(tx, before, state.statement_prefix);
  await tx.query({
    name: "approve-statement",
    text: `update statement set status = 'approved', number = $2, parties = $3, approved_at = clock_timestamp(), approved_key_id = $4,
             approved_person_id = $5 where id = $1`,
    values: [id, number, JSON.stringify(parties), by.keyId, by.personId],
  });
  const row = await findStatement(tx, workspaceId, id);
  if (row === undefined) throw new Error("an approved statement was not found");
  const statement = { row, lines };
  await queueBillingEvent(tx, workspaceId, "statement.approved", {
    cause,
    makeData: async () => await Promise.resolve(statementDocument(statement)),
  });
  return { outcome: "approved", statement };
}

/** The status under the lock; undefined if there is no such statement. */
export async function lockStatement(
  tx: Queryable,
  workspaceId: number,
  id: number,
): Promise<StatementRow["status"] | undefined> {
  const { rows } = await tx.query<{ status: StatementRow["status"] }>({
    name: "lock-statement",
    text: "select status from statement where workspace_id = $1 and id = $2 for update",
    values: [workspaceId, id],
  });
  return rows[0]?.status;
}

async function postTax(tx: Queryable, row: StatementRow, by: BillingActor): Promise<void> {
  const amount = amountOf(row.tax_amount);
  if (amount === 0n) return;
  const { currency, affiliate_id: ownerId } = row;
  await postLedger(tx, row.workspace_id, [
    {
      kind: "statement_tax",
      sourceKind: "statement_tax",
      sourceId: String(row.id),
      ...by,
      entries: [
        { account: "tax_in", ownerId: 0, currency, amount },
        { account: "partner_payable", ownerId, currency, amount: -amount },
      ],
    },
  ]);
}

async function partiesOf(
  tx: Queryable,
  { affiliate_id: affiliateId }: StatementRow,
  { legal, language }: BillingState,
): Promise<StatementParties> {
  const { rows } = await tx.query<Record<"name" | "country" | "vat_id", string>>({
    name: "read-recipient-of-statement",
    text: `select coalesce(nullif(f.company, ''), f.name) as name, coalesce(nullif(x.country, ''), f.country) as country,
             coalesce(x.vat_id, '') as vat_id
           from affiliate f left join tax_record x on x.affiliate_id = f.id where f.id = $1`,
    values: [affiliateId],
  });
  return { issuer: legal, recipient: rows[0] ?? {}, language };
}

async function nextNumber(tx: Queryable, row: StatementRow, prefix: string): Promise<string> {
  const { workspace_id: workspaceId, timezone } = row;
  const { rows } = await tx.query<{ now: string }>({
    name: "read-clock-of-approval",
    text: "select clock_timestamp() as now",
  });
  const atMs = Date.parse(rows[0]?.now ?? "");
  return await takeNumber(tx, workspaceId, { kind: "statement", prefix, timezone, atMs });
}
