-- Everything that follows from changes of conversions of one workspace, in the transaction of the changes; `before` is null for a new conversion. Each
-- conversion is in `changes` once. `cause` is {request_id, traceparent, person_id}, or null for changes that no request caused, such as the end of a hold.
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
  -- Of those that change what is earned or charged.
  select array_agg(w.id) filter (where
    (case when w.from_status = 'approved' then w.from_payout else 0 end, case when w.from_status = 'approved' then w.from_revenue else 0 end)
      <> (case when w.to_status = 'approved' then w.to_payout else 0 end, case when w.to_status = 'approved' then w.to_revenue else 0 end))
  into to_post from written w;
  if to_post is not null then
    insert into ledger_outbox (history_id, workspace_id)
    select h.id, s.workspace_id from billing_settings s, unnest(to_post) as h(id) where s.workspace_id = of_workspace and s.enabled;
  end if;
  insert into conversion_fact_outbox (conversion_id) select (c.after).id from unnest(changes) as c(before, after);
  perform queue_postbacks(changes, cause);
  perform queue_conversion_events(changes, cause);
end $$;
