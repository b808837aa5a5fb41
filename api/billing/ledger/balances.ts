import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Position } from "../../operation/cursor.ts";

/** Where a partner or an advertiser stands in one currency. Fields of the other kind are null. */
export type BalanceRow = {
  readonly owner_id: number;
  readonly owner_name: string;
  readonly currency: string;
  readonly pending: string;
  readonly balance: string;
  readonly unbilled: string;
  readonly carried: string;
  readonly draft: string;
  readonly approved_unpaid: string | null;
  readonly in_payout: string | null;
  readonly invoiced_open: string | null;
  readonly unallocated: string | null;
  readonly paid_total: string;
};

export type AskedBalances = {
  readonly ownerId?: number | undefined;
  readonly currency?: string | undefined;
  readonly after?: Position | undefined;
  readonly rowsMax: number;
};

/**
 * Balances of partners, by number of the partner and currency. Entries that no document has yet are not added up: they are the balance less the
 * documents (I5). So the cost of a row is bounded by the documents of its account, and not by its entries.
 */
export async function listPartnerBalances(
  db: Queryable,
  workspaceId: number,
  asked: AskedBalances,
): Promise<BalanceRow[]> {
  const { rows } = await db.query<BalanceRow>({
    ...nameOf("list-partner-balances", asked),
    text: `with place as (
             (select a.owner_id, a.currency from ledger_account a
              where a.workspace_id = $1 and a.kind = 'partner_payable' and ($2::integer is null or a.owner_id = $2)
                and ($3::text is null or a.currency = $3) and (a.owner_id, a.currency) > ($4::integer, $5::text)
              order by a.owner_id, a.currency limit $6)
             union
             (select distinct c.affiliate_id, c.currency from conversion c
              where c.workspace_id = $1 and c.status = 'pending' and c.affiliate_id is not null and ($2::integer is null or c.affiliate_id = $2)
                and ($3::text is null or c.currency = $3) and (c.affiliate_id, c.currency) > ($4::integer, $5::text)
              order by c.affiliate_id, c.currency limit $6)
             order by 1, 2 limit $6
           ), standing as (
             select p.owner_id, p.currency, a.id as account_id, coalesce(-b.balance, 0) as owed,
               coalesce((select sum(c.payout) from conversion c
                 where c.workspace_id = $1 and c.affiliate_id = p.owner_id and c.currency = p.currency and c.status = 'pending'), 0) as pending
             from place p
             left join ledger_account a on a.workspace_id = $1 and a.kind = 'partner_payable' and a.owner_id = p.owner_id and a.currency = p.currency
             left join ledger_balance b on b.account_id = a.id
           )
           select s.owner_id, f.name as owner_name, s.currency, s.pending::numeric(22, 4) as pending, s.owed::numeric(22, 4) as balance,
             (s.owed - d.carried - d.draft - d.approved_unpaid - d.in_payout)::numeric(22, 4) as unbilled,
             d.carried::numeric(22, 4) as carried, d.draft::numeric(22, 4) as draft, d.approved_unpaid::numeric(22, 4) as approved_unpaid,
             d.in_payout::numeric(22, 4) as in_payout, null as invoiced_open, null as unallocated,
             d.paid_total::numeric(22, 4) as paid_total
           from standing s join affiliate f on f.id = s.owner_id
           cross join lateral (
             select coalesce((array_agg(t.carried_out order by t.to_seq desc, t.period_to desc))[1], 0) as carried,
               coalesce(sum(t.payable) filter (where t.status = 'draft'), 0) as draft,
               coalesce(sum(t.gross) filter (where t.status = 'approved'), 0) as approved_unpaid,
               coalesce(sum(t.gross) filter (where t.status = 'in_payout'), 0) as in_payout,
               coalesce(sum(t.gross) filter (where t.status = 'paid'), 0) as paid_total
             from statement t where t.account_id = s.account_id and t.status <> 'void') d
           order by s.owner_id, s.currency`,
    values: valuesOf(workspaceId, asked),
  });
  return rows;
}

/** Balances of advertisers in the same way. A payment counts at once; `unallocated` is what no invoice has taken of it. */
export async function listAdvertiserBalances(
  db: Queryable,
  workspaceId: number,
  asked: AskedBalances,
): Promise<BalanceRow[]> {
  const { rows } = await db.query<BalanceRow>({
    ...nameOf("list-advertiser-balances", asked),
    text: `with place as (
             (select a.owner_id, a.currency from ledger_account a
              where a.workspace_id = $1 and a.kind = 'advertiser_receivable' and ($2::integer is null or a.owner_id = $2)
                and ($3::text is null or a.currency = $3) and (a.owner_id, a.currency) > ($4::integer, $5::text)
              order by a.owner_id, a.currency limit $6)
             union
             (select distinct c.advertiser_id, c.currency from conversion c
              where c.workspace_id = $1 and c.status = 'pending' and ($2::integer is null or c.advertiser_id = $2)
                and ($3::text is null or c.currency = $3) and (c.advertiser_id, c.currency) > ($4::integer, $5::text)
              order by c.advertiser_id, c.currency limit $6)
             order by 1, 2 limit $6
           ), standing as (
             select p.owner_id, p.currency, a.id as account_id, coalesce(b.balance, 0) as owed,
               coalesce((select sum(c.revenue) from conversion c
                 where c.workspace_id = $1 and c.advertiser_id = p.owner_id and c.currency = p.currency and c.status = 'pending'), 0) as pending
             from place p
             left join ledger_account a on a.workspace_id = $1 and a.kind = 'advertiser_receivable' and a.owner_id = p.owner_id and a.currency = p.currency
             left join ledger_balance b on b.account_id = a.id
           )
           select s.owner_id, v.name as owner_name, s.currency, s.pending::numeric(22, 4) as pending, s.owed::numeric(22, 4) as balance,
             (s.owed - d.carried - d.draft - d.invoiced_open + p.paid_total - p.allocated)::numeric(22, 4) as unbilled,
             d.carried::numeric(22, 4) as carried, d.draft::numeric(22, 4) as draft, null as approved_unpaid, null as in_payout,
             d.invoiced_open::numeric(22, 4) as invoiced_open, (p.paid_total - p.allocated)::numeric(22, 4) as unallocated,
             p.paid_total::numeric(22, 4) as paid_total
           from standing s join advertiser v on v.id = s.owner_id
           cross join lateral (
             select coalesce((array_agg(i.carried_out order by i.to_seq desc, i.period_to desc))[1], 0)
                 as carried,
               coalesce(sum(i.payable) filter (where i.status = 'draft'), 0) as draft,
               coalesce(sum(i.gross - i.paid) filter (where i.status in ('sent', 'part_paid')), 0) as invoiced_open
             from invoice i where i.account_id = s.account_id and i.status <> 'void' and i.kind = 'invoice') d
           cross join lateral (
             select coalesce(sum(p.amount), 0) as paid_total, coalesce(sum(l.amount), 0) as allocated
             from advertiser_payment p
             cross join lateral (select coalesce(sum(l.amount), 0) as amount from payment_allocation l where l.payment_id = p.id) l
             where p.advertiser_id = s.owner_id and p.currency = s.currency
               and not exists (select from advertiser_payment_reversal r where r.payment_id = p.id)) p
           order by s.owner_id, s.currency`,
    values: valuesOf(workspaceId, asked),
  });
  return rows;
}

/**
 * The payouts of a partner's approved conversions since `sinceMs`, for a workspace whose billing is off, so that nothing is posted. Reads only the
 * conversions of that time, by the index of the partner.
 */
export async function sumApproved(
  db: Queryable,
  workspaceId: number,
  {
    affiliateId,
    currency,
    sinceMs,
  }: {
    readonly affiliateId: number;
    readonly currency: string | undefined;
    readonly sinceMs: number;
  },
): Promise<{ readonly currency: string; readonly approved: string }[]> {
  const { rows } = await db.query<{ currency: string; approved: string }>({
    name: "sum-approved-payouts",
    text: `select currency, sum(payout)::numeric(22, 4) as approved from conversion
           where workspace_id = $1 and affiliate_id = $2 and status = 'approved' and ($3::text is null or currency = $3)
             and conv_ts >= $4::timestamptz
           group by currency order by currency`,
    values: [workspaceId, affiliateId, currency, new Date(sinceMs).toISOString()],
  });
  return rows;
}

function nameOf(name: string, { ownerId, currency }: AskedBalances): { readonly name?: string } {
  return statementName(name, { ownerId, currency });
}

function valuesOf(
  workspaceId: number,
  { ownerId, currency, after, rowsMax }: AskedBalances,
): unknown[] {
  return [workspaceId, ownerId, currency, after?.at ?? "0", after?.id ?? "", rowsMax];
}
