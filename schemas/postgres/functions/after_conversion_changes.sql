-- after_conversion_change of changes of conversions of one workspace, each of which is in `changes` once: one statement for each table instead of one for
-- each conversion, and what nobody wants to hear is looked up once. A single conversion would take twice as long this way.
create or replace function after_conversion_changes(changes conversion_change[], actor text, key_id integer, cause jsonb default null)
returns void language plpgsql as $$
declare
  of_workspace integer := (changes[1].after).workspace_id;
  to_post bigint[];
begin
  with written as (
    insert into conversion_history (conversion_id, at, actor, key_id, person_id, from_status, to_status, reason, from_revenue,
      to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
    select (c.after).id, clock_timestamp(), actor, after_conversion_changes.key_id, (cause ->> 'person_id')::integer, (c.before).status,
      (c.after).status, (c.after).status_reason, (c.before).revenue, (c.after).revenue, (c.before).payout, (c.after).payout,
      (c.before).sale_amount, (c.after).sale_amount
    from unnest(changes) as c(before, after)
    returning id, from_status, to_status, from_revenue, to_revenue, from_payout, to_payout
  )
  -- Those that change what is earned or charged.
  select array_agg(w.id) filter (where
    (case when w.from_status = 'approved' then w.from_payout else 0 end, case when w.from_status = 'approved' then w.from_revenue else 0 end)
      <> (case when w.to_status = 'approved' then w.to_payout else 0 end, case when w.to_status = 'approved' then w.to_revenue else 0 end))
  into to_post from written w;
  if to_post is not null then
    insert into ledger_outbox (history_id, workspace_id)
    select h.id, s.workspace_id from billing_settings s, unnest(to_post) as h(id) where s.workspace_id = of_workspace and s.enabled;
  end if;
  insert into conversion_fact_outbox (conversion_id) select (c.after).id from unnest(changes) as c(before, after);
  perform queue_postbacks(c.before, c.after, cause) from unnest(changes) as c(before, after)
  where exists (select from postback p where p.offer_id = (c.after).offer_id and p.status = 'active')
    or exists (select from postback p where p.offer_id is null and p.workspace_id = of_workspace and p.status = 'active');
  if has_subscriber(of_workspace, 'conversion.created') or has_subscriber(of_workspace, 'conversion.updated') then
    perform queue_conversion_event(c.before, c.after, cause) from unnest(changes) as c(before, after);
  end if;
end $$;
