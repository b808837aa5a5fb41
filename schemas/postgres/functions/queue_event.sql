-- Queues an event for every active webhook that subscribed to it, in the transaction of the change. All webhooks get the event with the
-- same id. `more` is {} or {"previous": ...}.
create or replace function queue_event(of_workspace integer, event_name text, data json, more jsonb, of_conversion uuid, cause jsonb default null)
returns void language plpgsql as $$
declare
  new_id uuid := gen_random_uuid();
  document text := event_document(new_id, of_workspace, event_name, data, more);
begin
  insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, event, event_id, facts,
    request_id, traceparent)
  select of_workspace, 'webhook', w.id, w.destination, of_conversion, event_name, new_id,
    jsonb_build_object('body', document, 'is_ordered', false), cause ->> 'request_id', cause ->> 'traceparent'
  from webhook w
  where w.workspace_id = of_workspace and w.active and event_name = any (w.events)
  order by w.id;
end $$;
