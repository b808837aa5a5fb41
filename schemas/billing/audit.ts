import type { Queryable } from "../postgres/connect.ts";

/** What an invariant of billing says, and what is stored (N42). */
export type Violation = {
  readonly invariant: string;
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
};

/** Violations that one audit names. */
const VIOLATIONS_MAX = 100;

/** Looks for violations of the invariants of a workspace; empty if the books are right. */
export async function auditBilling(
  db: Queryable,
  workspaceId: number,
): Promise<readonly Violation[]> {
  const { rows } = await db.query<Violation>({
    name: "audit-ledger",
    text: `with entry as (
             select a.id as account_id, a.currency, e.transaction_id, e.amount, e.seq
             from ledger_account a join ledger_entry e on e.account_id = a.id
             where a.workspace_id = $1
           ), unbalanced as (
             select transaction_id, currency, sum(amount) as amount from entry group by 1, 2 having sum(amount) <> 0
           ), summed as (
             select currency, sum(amount) as amount from entry group by 1 having sum(amount) <> 0
           ), stands as (
             select account_id, sum(amount) as balance, count(*) as entries, max(seq) as last_seq from entry group by 1
           ), wrong as (
             select a.id, b.balance, b.last_seq, coalesce(s.balance, 0) as entries_balance, coalesce(s.entries, 0) as entries
             from ledger_account a left join ledger_balance b on b.account_id = a.id left join stands s on s.account_id = a.id
             where a.workspace_id = $1 and (coalesce(b.balance, 0) <> coalesce(s.balance, 0)
               or coalesce(b.last_seq, 0) <> coalesce(s.entries, 0) or coalesce(s.last_seq, 0) <> coalesce(s.entries, 0))
           )
           select 'I1' as invariant, 'transaction ' || transaction_id as subject, '0.0000 ' || currency as expected, amount::text as found
           from unbalanced
           union all
           select 'I2', 'currency ' || currency, '0.0000', amount::text from summed
           union all
           select 'I3', 'account ' || id, entries_balance || ' of ' || entries || ' entries', coalesce(balance, 0) || ' of ' || coalesce(last_seq, 0)
           from wrong
           order by 1, 2 limit $2`,
    values: [workspaceId, VIOLATIONS_MAX],
  });
  return rows;
}
