-- reads: 0040
-- What a partner wrote when it asked for access to an offer: free text, and answers to the questions of the offer by their keys.
alter table offer_access add column message text not null default '';
alter table offer_access add column answers jsonb not null default '{}';
-- The workspace of the offer, so that the requests of a workspace are one list. An offer never changes its workspace.
alter table offer_access add column workspace_id integer;
-- Clicks see no difference, so the records keep their catalog version.
alter table offer_access disable trigger stamp;
update offer_access a set workspace_id = o.workspace_id from offer o where o.id = a.offer_id;
alter table offer_access enable trigger stamp;

create function fill_access_workspace() returns trigger language plpgsql as $$
begin
  new.workspace_id := coalesce(new.workspace_id, (select o.workspace_id from offer o where o.id = new.offer_id));
  return new;
end $$;
create trigger fill_workspace before insert on offer_access for each row execute function fill_access_workspace();

-- How partners ask for access: questions, tiers of partners that are approved at once, and days after which a rejected one may ask again.
alter table offer add column access_questions jsonb not null default '[]';
alter table offer add column auto_approve_tiers text[] not null default '{}';
alter table offer add column reapply_days integer not null default 30 check (reapply_days >= 0);
