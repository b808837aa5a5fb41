import { postLedger } from "../../../schemas/billing/post-ledger.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import type { ApiWorld, Tenant } from "../api/api-world.ts";

let numbers = 0;

/** An approved statement of a partner, as closing and approving leave it. What it pays is owed in the ledger. */
export async function approvedStatement(
  world: ApiWorld,
  {
    affiliateId,
    amount,
    currency = "EUR",
    dueOn = "2026-01-31",
    tenant = world.tenant,
  }: {
    readonly affiliateId: number;
    readonly amount: string;
    readonly currency?: string;
    readonly dueOn?: string;
    readonly tenant?: Tenant;
  },
): Promise<number> {
  numbers += 1;
  const entry = { currency, amount: amountOf(amount) };
  await inTransaction(world.pool, async (tx) => {
    await postLedger(tx, tenant.workspaceId, [
      {
        kind: "adjustment",
        sourceKind: "test",
        sourceId: `statement ${numbers}`,
        entries: [
          { ...entry, account: "adjustment_cost", ownerId: 0 },
          { ...entry, account: "partner_payable", ownerId: affiliateId, amount: -entry.amount },
        ],
      },
    ]);
  });
  const { rows } = await world.pool.query<{ id: number }>({
    text: `with account as (
             select a.id, b.last_seq from ledger_account a join ledger_balance b on b.account_id = a.id
             where a.workspace_id = $1 and a.kind = 'partner_payable' and a.owner_id = $2::integer and a.currency = $3
           ), newest as (
             select coalesce(max(s.to_seq), 0) as seq, coalesce(max(s.period_to), '2026-01-01Z') as period_to
             from statement s join account a on a.id = s.account_id
           ), made as (
             insert into statement (workspace_id, affiliate_id, account_id, currency, status, terms, period_from, period_to,
               timezone, from_seq, to_seq, carried_in, total, min_payout, payable, gross, carried_out, due_on)
             select $1, $2::integer, a.id, $3, 'draft', 'net30', n.period_to, n.period_to + interval '1 day', 'UTC', n.seq, a.last_seq,
               0, $4::numeric, 0, $4, $4, 0, $5::date
             from account a, newest n returning id
           ), line as (
             insert into statement_line (statement_id, line, kind, count, amount) select id, 1, 'bonus', 1, $4 from made
           )
           select id from made`,
    values: [tenant.workspaceId, affiliateId, currency, amount, dueOn],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("no statement");
  await world.pool.query({
    text: "update statement set status = 'approved', number = $2, approved_at = now() where id = $1",
    values: [row.id, `ROW-${numbers}`],
  });
  return row.id;
}
