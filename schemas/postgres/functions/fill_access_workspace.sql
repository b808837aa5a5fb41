-- An access record belongs to the workspace of its offer.
create or replace function fill_access_workspace() returns trigger language plpgsql as $$
begin
  new.workspace_id := coalesce(new.workspace_id, (select o.workspace_id from offer o where o.id = new.offer_id));
  return new;
end $$;
