-- Posts up to `rows_max` queued changes of conversions of one workspace and takes them off the queue (N39), in the one transaction of this
-- call: each change is posted exactly once. Any number of sessions may call it; a change that another session holds is left to it. A
-- transaction of the ledger is the difference that a change made to what the partner earns and to what the advertiser is charged.
--
-- An entry counts 1 when the conversion begins to have the amount, -1 when it no longer has it, and 0 when the amount changes.
create or replace function post_conversions(of_workspace integer, rows_max integer, out taken integer, out posted integer)
language plpgsql as $$
declare
  starts timestamptz := (
    select s.starts_on::timestamp at time zone w.timezone
    from billing_settings s join workspace w on w.id = s.workspace_id where s.workspace_id = of_workspace);
  ids bigint[] := array(
    select o.history_id from ledger_outbox o
    where o.workspace_id = of_workspace order by o.history_id limit rows_max for update skip locked);
  postings ledger_posting[];
begin
  taken := cardinality(ids);
  posted := 0;
  if taken = 0 then
    return;
  end if;
  with money as (
    select h.id, h.at, h.key_id, h.person_id, h.conversion_id, c.created_at >= starts as is_posted, c.affiliate_id, c.advertiser_id,
      c.offer_id, c.event_code, c.currency,
      case when h.from_status = 'approved' and c.affiliate_id is not null then h.from_payout else 0 end as payout_before,
      case when h.to_status = 'approved' and c.affiliate_id is not null then h.to_payout else 0 end as payout_after,
      case when h.from_status = 'approved' then h.from_revenue else 0 end as revenue_before,
      case when h.to_status = 'approved' then h.to_revenue else 0 end as revenue_after
    from conversion_history h join conversion c on c.id = h.conversion_id
    where h.id = any(ids) and c.workspace_id = of_workspace
  ), changed as materialized (
    select m.id, m.at, m.key_id, m.person_id, m.conversion_id, m.is_posted, m.affiliate_id, m.advertiser_id, m.offer_id, m.event_code,
      m.currency, row_number() over (order by m.id) as place,
      m.payout_after - m.payout_before as payout, (m.payout_after <> 0)::integer - (m.payout_before <> 0)::integer as payouts,
      m.revenue_after - m.revenue_before as revenue, (m.revenue_after <> 0)::integer - (m.revenue_before <> 0)::integer as revenues
    from money m
    where (m.payout_after, m.revenue_after) <> (m.payout_before, m.revenue_before)
  ), left_out as (
    insert into ledger_unposted (history_id, workspace_id, conversion_id, at)
    select c.id, of_workspace, c.conversion_id, c.at from changed c where not c.is_posted
    on conflict do nothing
  )
  select array_agg((c.place, 'conversion', 'conversion', c.id::text, '', null, c.key_id, c.person_id, e.account, e.owner_id, c.currency,
    e.amount, c.conversion_id, c.offer_id, c.event_code, e.count)::ledger_posting order by c.place, e.line)
  into postings
  from changed c
  cross join lateral (values
    (1, 'payout_cost', 0, c.payout, c.payouts),
    (2, 'partner_payable', c.affiliate_id, -c.payout, c.payouts),
    (3, 'advertiser_receivable', c.advertiser_id, c.revenue, c.revenues),
    (4, 'revenue', 0, -c.revenue, c.revenues)) as e(line, account, owner_id, amount, count)
  where c.is_posted and e.amount <> 0;
  if postings is not null then
    posted := (select count(*) from post_entries(of_workspace, postings));
  end if;
  delete from ledger_outbox o where o.workspace_id = of_workspace and o.history_id = any(ids);
end $$;
