-- Queues the events that conversions of one workspace were created, once (G133), or that their status or their money changed. `before` is null for
-- a new conversion.
create or replace function queue_conversion_events(changes conversion_change[], cause jsonb default null) returns void language plpgsql as $$
declare
  of_workspace integer := (changes[1].after).workspace_id;
  wants_created boolean;
  wants_updated boolean;
begin
  select bool_or('conversion.created' = any (w.events)), bool_or('conversion.updated' = any (w.events)) into wants_created, wants_updated
  from webhook w where w.workspace_id = of_workspace and w.active;
  if wants_created then
    perform queue_event(of_workspace, 'conversion.created', conversion_document(c.after), '{}', (c.after).id, cause)
    from unnest(changes) as c(before, after)
    where (c.before).id is null;
  end if;
  if wants_updated then
    perform queue_event(of_workspace, 'conversion.updated', conversion_document(c.after),
      jsonb_build_object('previous', jsonb_build_object('status', (c.before).status, 'revenue', (c.before).revenue::text,
        'payout', (c.before).payout::text, 'sale_amount', (c.before).sale_amount::text)), (c.after).id, cause)
    from unnest(changes) as c(before, after)
    where ((c.before).status, (c.before).revenue, (c.before).payout, (c.before).sale_amount)
      <> ((c.after).status, (c.after).revenue, (c.after).payout, (c.after).sale_amount);
  end if;
end $$;
