-- Posts what the clicks of a day of the workspace cost and earned, as a difference to what is posted already (N40). `figures` has all that
-- was read of the offers with after_offer < id <= to_offer: [{offer_id, affiliate_id, advertiser_id, currency, payout, revenue,
-- payout_clicks, revenue_clicks}]. An offer and partner get one transaction for each reading that found a difference. Answers how many.
create or replace function post_clicks(of_workspace integer, of_day date, after_offer integer, to_offer integer, figures jsonb)
returns integer language plpgsql as $$
declare
  transactions jsonb;
begin
  insert into ledger_click_day (workspace_id, day) values (of_workspace, of_day) on conflict do nothing;
  -- Two readers of a day wait for each other, so both see what is posted.
  perform from ledger_click_day d where d.workspace_id = of_workspace and d.day = of_day for update;
  with known as (
    select t.offer_id, t.affiliate_id, t.advertiser_id, t.currency, t.payout, t.revenue, t.payout_clicks, t.revenue_clicks, t.version
    from ledger_click_total t
    where t.workspace_id = of_workspace and t.day = of_day and t.offer_id > after_offer and t.offer_id <= to_offer
  ), found as (
    select r.offer_id, r.affiliate_id, r.advertiser_id, r.currency, case when r.affiliate_id > 0 then r.payout else 0 end as payout,
      case when r.advertiser_id > 0 then r.revenue else 0 end as revenue, r.payout_clicks, r.revenue_clicks
    from jsonb_to_recordset(figures) as r(offer_id integer, affiliate_id integer, advertiser_id integer, currency text,
      payout numeric(18, 4), revenue numeric(18, 4), payout_clicks bigint, revenue_clicks bigint)
  ), compared as (
    select offer_id, affiliate_id, advertiser_id, currency, coalesce(f.payout, 0) as payout, coalesce(f.revenue, 0) as revenue,
      coalesce(f.payout_clicks, 0) as payout_clicks, coalesce(f.revenue_clicks, 0) as revenue_clicks,
      coalesce(f.payout, 0) - coalesce(k.payout, 0) as payout_added, coalesce(f.revenue, 0) - coalesce(k.revenue, 0) as revenue_added,
      coalesce(f.payout_clicks, 0) - coalesce(k.payout_clicks, 0) as payout_clicks_added,
      coalesce(f.revenue_clicks, 0) - coalesce(k.revenue_clicks, 0) as revenue_clicks_added,
      1 + max(coalesce(k.version, 0)) over (partition by offer_id, affiliate_id) as next_version
    from found f full join known k using (offer_id, affiliate_id, advertiser_id, currency)
  ), changed as materialized (
    select c as row, jsonb_build_object('offer_id', c.offer_id, 'currency', c.currency) as entry
    from compared c where c.payout_added <> 0 or c.revenue_added <> 0
  ), noted as (
    insert into ledger_click_total as t (workspace_id, day, offer_id, affiliate_id, advertiser_id, currency, payout, revenue,
      payout_clicks, revenue_clicks, version)
    select of_workspace, of_day, (c.row).offer_id, (c.row).affiliate_id, (c.row).advertiser_id, (c.row).currency, (c.row).payout,
      (c.row).revenue, (c.row).payout_clicks, (c.row).revenue_clicks, (c.row).next_version
    from changed c
    on conflict (workspace_id, day, offer_id, affiliate_id, advertiser_id, currency) do update
    set payout = excluded.payout, revenue = excluded.revenue, payout_clicks = excluded.payout_clicks,
      revenue_clicks = excluded.revenue_clicks, version = excluded.version
  ), entries as (
    select (c.row).offer_id, (c.row).affiliate_id, (c.row).next_version, e.entry
    from changed c
    cross join lateral (
      select c.entry || jsonb_build_object('account', v.account, 'owner_id', v.owner_id, 'amount', v.amount::text, 'count', v.count)
      from (values
        ('payout_cost', 0, (c.row).payout_added, (c.row).payout_clicks_added),
        ('partner_payable', (c.row).affiliate_id, -(c.row).payout_added, (c.row).payout_clicks_added),
        ('advertiser_receivable', (c.row).advertiser_id, (c.row).revenue_added, (c.row).revenue_clicks_added),
        ('revenue', 0, -(c.row).revenue_added, (c.row).revenue_clicks_added)) as v(account, owner_id, amount, count)
      where v.amount <> 0) e(entry)
  ), posted as (
    select jsonb_build_object('source_kind', 'clicks', 'kind', 'clicks',
      'source_id', concat_ws('/', of_day, e.offer_id, e.affiliate_id, e.next_version), 'entries', jsonb_agg(e.entry)) as item
    from entries e group by e.offer_id, e.affiliate_id, e.next_version
  )
  select jsonb_agg(p.item) into transactions from posted p;
  if transactions is null then
    return 0;
  end if;
  return (select count(*) from post_ledger(of_workspace, transactions));
end $$;
