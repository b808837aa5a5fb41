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
  transactions jsonb;
begin
  taken := cardinality(ids);
  posted := 0;
  if taken = 0 then
    return;
  end if;
  with money as (
    select h.id, h.at, h.key_id, h.person_id, h.conversion_id, c.created_at >= starts as is_posted, c.affiliate_id, c.advertiser_id,
      jsonb_build_object('conversion_id', c.id, 'offer_id', c.offer_id, 'event_code', c.event_code, 'currency', c.currency) as entry,
      case when h.from_status = 'approved' and c.affiliate_id is not null then h.from_payout else 0 end as payout_before,
      case when h.to_status = 'approved' and c.affiliate_id is not null then h.to_payout else 0 end as payout_after,
      case when h.from_status = 'approved' then h.from_revenue else 0 end as revenue_before,
      case when h.to_status = 'approved' then h.to_revenue else 0 end as revenue_after
    from conversion_history h join conversion c on c.id = h.conversion_id
    where h.id = any(ids) and c.workspace_id = of_workspace
  ), changed as materialized (
    select m.id, m.at, m.key_id, m.person_id, m.conversion_id, m.is_posted, m.affiliate_id, m.advertiser_id,
      m.payout_after - m.payout_before as payout, m.revenue_after - m.revenue_before as revenue,
      m.entry || jsonb_build_object('count', (m.payout_after <> 0)::integer - (m.payout_before <> 0)::integer) as of_payout,
      m.entry || jsonb_build_object('count', (m.revenue_after <> 0)::integer - (m.revenue_before <> 0)::integer) as of_revenue
    from money m
    where (m.payout_after, m.revenue_after) <> (m.payout_before, m.revenue_before)
  ), left_out as (
    insert into ledger_unposted (history_id, workspace_id, conversion_id, at)
    select c.id, of_workspace, c.conversion_id, c.at from changed c where not c.is_posted
    on conflict do nothing
  )
  select jsonb_agg(jsonb_build_object('source_kind', 'conversion', 'source_id', c.id::text, 'kind', 'conversion', 'key_id', c.key_id,
    'person_id', c.person_id, 'entries',
    case when c.payout = 0 then '[]' else jsonb_build_array(
      c.of_payout || jsonb_build_object('account', 'payout_cost', 'owner_id', 0, 'amount', c.payout::text),
      c.of_payout || jsonb_build_object('account', 'partner_payable', 'owner_id', c.affiliate_id, 'amount', (-c.payout)::text)) end
    || case when c.revenue = 0 then '[]' else jsonb_build_array(
      c.of_revenue || jsonb_build_object('account', 'advertiser_receivable', 'owner_id', c.advertiser_id, 'amount', c.revenue::text),
      c.of_revenue || jsonb_build_object('account', 'revenue', 'owner_id', 0, 'amount', (-c.revenue)::text)) end) order by c.id)
  into transactions
  from changed c where c.is_posted;
  if transactions is not null then
    posted := (select count(*) from post_ledger(of_workspace, transactions));
  end if;
  delete from ledger_outbox o where o.workspace_id = of_workspace and o.history_id = any(ids);
end $$;
