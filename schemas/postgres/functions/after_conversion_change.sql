-- Everything that follows from a change of a conversion, in the transaction of the change; `before` is null for a new one. `cause` is
-- {request_id, traceparent, person_id}, or null for a change that no request caused, such as the end of a hold.
create or replace function after_conversion_change(before conversion, after conversion, actor text, key_id integer, cause jsonb default null)
returns void language plpgsql as $$
declare
  change_id bigint;
begin
  insert into conversion_history (conversion_id, at, actor, key_id, person_id, from_status, to_status, reason, from_revenue,
    to_revenue, from_payout, to_payout, from_sale_amount, to_sale_amount)
  values (after.id, clock_timestamp(), actor, key_id, (cause ->> 'person_id')::integer, before.status, after.status,
    after.status_reason, before.revenue, after.revenue, before.payout, after.payout, before.sale_amount, after.sale_amount)
  returning id into change_id;
  if (earned(before), charged(before)) is distinct from (earned(after), charged(after)) then
    insert into ledger_outbox (history_id, workspace_id)
    select change_id, s.workspace_id from billing_settings s where s.workspace_id = after.workspace_id and s.enabled;
  end if;
  insert into conversion_fact_outbox (conversion_id) values (after.id);
  perform queue_postbacks(before, after, cause);
  perform queue_conversion_event(before, after, cause);
end $$;
