-- Whether an active webhook of the workspace wants the event.
create or replace function has_subscriber(of_workspace integer, event_name text) returns boolean language sql stable as $$
  select exists (
    select from webhook w where w.workspace_id = of_workspace and w.active and event_name = any (w.events))
$$;
