-- Queues the event that a conversion was created, once (G133), or that its status or its money changed. `before` is null for a new
-- conversion.
create or replace function queue_conversion_event(before conversion, after conversion, cause jsonb default null)
returns void language plpgsql as $$
declare
  event_name text := case when before.id is null then 'conversion.created' else 'conversion.updated' end;
  more jsonb := '{}';
begin
  if before.id is not null then
    if (before.status, before.revenue, before.payout, before.sale_amount)
       = (after.status, after.revenue, after.payout, after.sale_amount) then
      return;
    end if;
    more := jsonb_build_object('previous', jsonb_build_object('status', before.status, 'revenue', before.revenue::text,
      'payout', before.payout::text, 'sale_amount', before.sale_amount::text));
  end if;
  if has_subscriber(after.workspace_id, event_name) then
    perform queue_event(after.workspace_id, event_name, conversion_document(after), more, after.id, cause);
  end if;
end $$;
