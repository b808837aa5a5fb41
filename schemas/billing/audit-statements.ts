import { SETTLING_KINDS } from "./post-ledger.ts";

/** What must always hold (N42). */
export type Invariant = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8";

export type AuditStatement = {
  readonly invariant: Invariant;
  /**
   * Answers `subject`, `expected` and `found` of at most $2 violations in workspace $1. Each statement adds up whole accounts, conversions or
   * documents at once.
   */
  readonly text: string;
};

/** Kinds of this list are in no document: {@link SETTLING_KINDS}. */
const SETTLING = SETTLING_KINDS.map((kind) => `'${kind}'`).join(", ");

const BALANCED = `
  select 'transaction ' || t.id as subject, '0' as expected, coalesce(sum(e.amount)::text, 'no entries') as found
  from ledger_transaction t left join (ledger_entry e join ledger_account a on a.id = e.account_id) on e.transaction_id = t.id
  where t.workspace_id = $1
  group by t.id, a.currency
  having coalesce(sum(e.amount), 1) <> 0 or count(e.seq) < 2
  limit $2`;

const CURRENCIES = `
  select 'currency ' || a.currency as subject, '0' as expected, sum(b.balance)::text as found
  from ledger_account a join ledger_balance b on b.account_id = a.id
  where a.workspace_id = $1
  group by a.currency having sum(b.balance) <> 0
  limit $2`;

const BALANCES = `
  select 'account ' || a.id as subject, concat(coalesce(e.amount, 0), ' after ', coalesce(e.entries, 0)) as expected,
    concat(coalesce(b.balance, 0), ' after ', coalesce(b.last_seq, 0)) as found
  from ledger_account a
  left join ledger_balance b on b.account_id = a.id
  left join lateral (select sum(amount) as amount, count(*) as entries, max(seq) as last from ledger_entry where account_id = a.id) e on true
  where a.workspace_id = $1
    and (coalesce(e.amount, 0), coalesce(e.entries, 0), coalesce(e.last, 0)) is distinct from
      (coalesce(b.balance, 0), coalesce(b.last_seq, 0), coalesce(b.last_seq, 0))
  limit $2`;

/** Conversions with a change that waits in the queue are judged next time. While not everything is queued, none is judged. */
const CONVERSIONS = `
  with settings as (
    select s.starts_on::timestamp at time zone w.timezone as starts
    from billing_settings s join workspace w on w.id = s.workspace_id
    where s.workspace_id = $1 and s.enabled and s.backfilled_to = 9223372036854775807
      and (s.enabled_xid is null or s.backfill_xid > s.enabled_xid)
  ), posted as (
    select e.conversion_id, -coalesce(sum(e.amount) filter (where a.kind = 'partner_payable'), 0) as payout,
      -coalesce(sum(e.amount) filter (where a.kind = 'revenue'), 0) as revenue
    from ledger_account a join ledger_entry e on e.account_id = a.id
    where a.workspace_id = $1 and a.kind in ('partner_payable', 'revenue') and e.kind = 'conversion'
    group by e.conversion_id
  ), owed as (
    select c.id, case when c.affiliate_id is null then 0 else c.payout end as payout, c.revenue
    from conversion c cross join settings s
    where c.workspace_id = $1 and c.status = 'approved' and c.created_at >= s.starts
  )
  select concat('conversion ', coalesce(o.id, p.conversion_id)) as subject,
    concat('payout ', coalesce(o.payout, 0), ', revenue ', coalesce(o.revenue, 0)) as expected,
    concat('payout ', coalesce(p.payout, 0), ', revenue ', coalesce(p.revenue, 0)) as found
  from owed o full join posted p on p.conversion_id = o.id
  where (coalesce(o.payout, 0), coalesce(o.revenue, 0)) <> (coalesce(p.payout, 0), coalesce(p.revenue, 0))
    and exists (select from settings)
    and not exists (
      select from conversion_history h join ledger_outbox q on q.history_id = h.id and q.workspace_id = $1
      where h.conversion_id = coalesce(o.id, p.conversion_id))
  limit $2`;

const PARTNERS = `
  with last_of as (
    select distinct on (s.account_id) s.account_id, s.to_seq, s.carried_out
    from statement s where s.workspace_id = $1 and s.status <> 'void'
    order by s.account_id, s.to_seq desc, s.period_to desc
  ), open_of as (
    select s.account_id, sum(case when s.status = 'draft' then s.payable else s.gross end) as amount
    from statement s where s.workspace_id = $1 and s.status in ('draft', 'approved', 'in_payout')
    group by s.account_id
  ), partner as (
    select a.id, -coalesce(b.balance, 0) as found, coalesce(l.carried_out, 0) + coalesce(o.amount, 0) - coalesce(u.amount, 0) as expected
    from ledger_account a
    left join ledger_balance b on b.account_id = a.id
    left join last_of l on l.account_id = a.id
    left join open_of o on o.account_id = a.id
    left join lateral (
      select sum(e.amount) as amount from ledger_entry e
      where e.account_id = a.id and e.seq > coalesce(l.to_seq, 0) and e.kind not in (${SETTLING})) u on true
    where a.workspace_id = $1 and a.kind = 'partner_payable'
  )
  select 'account ' || p.id as subject, p.expected::text as expected, p.found::text as found
  from partner p where p.expected <> p.found
  limit $2`;

const RANGES = `
  with document as (
    select 'statement ' || s.id as subject, s.account_id, s.from_seq, s.to_seq, s.period_to, s.carried_in, s.carried_out
    from statement s where s.workspace_id = $1 and s.status <> 'void'
    union all
    select 'invoice ' || i.id, i.account_id, i.from_seq, i.to_seq, i.period_to, i.carried_in, i.carried_out
    from invoice i where i.workspace_id = $1 and i.status <> 'void' and i.kind = 'invoice'
  ), chained as (
    select d.subject, d.from_seq, d.carried_in, b.last_seq, d.to_seq,
      coalesce(lag(d.to_seq) over chain, 0) as starts_at, coalesce(lag(d.carried_out) over chain, 0) as carried
    from document d join ledger_balance b on b.account_id = d.account_id
    window chain as (partition by d.account_id order by d.to_seq, d.period_to)
  )
  select c.subject, concat('after ', c.starts_at, ', carried ', c.carried) as expected,
    concat('after ', c.from_seq, ', carried ', c.carried_in) as found
  from chained c
  where (c.from_seq, c.carried_in) <> (c.starts_at, c.carried) or c.to_seq > c.last_seq
  limit $2`;

const LINES = `
  with document as (
    select 'statement ' || s.id as subject, s.total, s.carried_in + coalesce(sum(l.amount), 0) as of_lines
    from statement s left join statement_line l on l.statement_id = s.id
    where s.workspace_id = $1
    group by s.id
    union all
    select 'invoice ' || i.id, i.total, i.carried_in + coalesce(sum(l.amount), 0)
    from invoice i left join invoice_line l on l.invoice_id = i.id
    where i.workspace_id = $1
    group by i.id
  )
  select d.subject, d.total::text as expected, d.of_lines::text as found
  from document d where d.total <> d.of_lines
  limit $2`;

/** A line that came back had been paid. Compared by partner, because payers name the sources of their transactions in different ways. */
const PAYOUTS = `
  with entry as (
    select a.owner_id, a.currency, e.amount, t.kind,
      (select count(*) from ledger_entry c join ledger_account o on o.id = c.account_id
       where c.transaction_id = t.id and o.kind = 'clearing' and c.amount = -e.amount) as clearing
    from ledger_account a join ledger_entry e on e.account_id = a.id join ledger_transaction t on t.id = e.transaction_id
    where a.workspace_id = $1 and a.kind = 'partner_payable' and e.kind in ('payout', 'payout_return')
  ), posted as (
    select e.owner_id, e.currency, e.kind, count(*) as entries, sum(abs(e.amount)) as amount, sum(e.clearing) as clearing
    from entry e group by e.owner_id, e.currency, e.kind
  ), line as (
    select l.affiliate_id as owner_id, l.currency, k.kind, count(*) as entries, sum(l.amount) as amount
    from payout_line l
    join (values ('payout', 'paid'), ('payout', 'returned'), ('payout_return', 'returned')) as k(kind, status) on k.status = l.status
    where l.workspace_id = $1
    group by l.affiliate_id, l.currency, k.kind
  )
  select concat(kind, ' of partner ', owner_id) as subject,
    concat(coalesce(l.amount, 0), ' in ', coalesce(l.entries, 0)) as expected,
    concat(coalesce(p.amount, 0), ' in ', coalesce(p.entries, 0), ', clearing ', coalesce(p.clearing, 0)) as found
  from line l full join posted p using (owner_id, currency, kind)
  where (coalesce(l.amount, 0), coalesce(l.entries, 0), coalesce(l.entries, 0))
    <> (coalesce(p.amount, 0), coalesce(p.entries, 0), coalesce(p.clearing, 0))
  limit $2`;

export const AUDIT_STATEMENTS: readonly AuditStatement[] = [
  { invariant: "I1", text: BALANCED },
  { invariant: "I2", text: CURRENCIES },
  { invariant: "I3", text: BALANCES },
  { invariant: "I4", text: CONVERSIONS },
  { invariant: "I5", text: PARTNERS },
  { invariant: "I6", text: RANGES },
  { invariant: "I7", text: LINES },
  { invariant: "I8", text: PAYOUTS },
];
