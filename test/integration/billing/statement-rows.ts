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
        sourceId: String(numbers),
        entries: [
          { ...entry, account: "adjustment_cost", ownerId: 0 },
          { ...entry, account: "partner_payable", ownerId: affiliateId, amount: -entry.amount },
        ],
      },
    ]);
  });
  const { rows } = await world.pool.query<{ id: number }>({
    text: `insert into statement (workspace_id, affiliate_id, account_id, currency, number, status, terms, period_from, period_to,
             timezone, from_seq, to_seq, carried_in, total, min_payout, payable, gross, carried_out, due_on, approved_at)
           select $1, $2::integer, a.id, $3, $4, 'approved', 'net30', '2026-01-01', '2026-02-01', 'UTC', b.last_seq - 1, b.last_seq, 0, $5, 0, $5,
             $5, 0, $6, now()
           from ledger_account a join ledger_balance b on b.account_id = a.id
           where a.workspace_id = $1 and a.kind = 'partner_payable' and a.owner_id = $2::integer and a.currency = $3
           returning id`,
    values: [tenant.workspaceId, affiliateId, currency, `S-2026-${numbers}`, amount, dueOn],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("no statement");
  return row.id;
}
