-- Runs after the trigger `stamp`, whose lock makes catalog writes wait for each other: what it looks up cannot change any more.
-- Plans are kept while tables grow: with only index scans allowed, one made for an empty table reads no large one from end to end.
create or replace function guard_tracking_host() returns trigger language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  if tg_op = 'UPDATE' then
    if tracking_host_key(new.host) = tracking_host_key(old.host) then
      return new;
    end if;
    if exists (select from tracking_domain d where d.shared_from = old.id) then
      raise exception 'a shared host keeps its name'
        using errcode = 'foreign_key_violation', constraint = 'tracking_domain_shared';
    end if;
    new.shared_from := null;
  end if;
  -- Cookies and certificates are the same on every port of a name, so another port is no other owner's. The unique index decides
  -- about the same port.
  if new.shared_from is null and exists (
    select from tracking_domain d
    where split_part(tracking_host_key(d.host), ':', 1) = split_part(tracking_host_key(new.host), ':', 1)
      and d.shared_from is null and d.workspace_id <> new.workspace_id)
  then
    raise exception 'the host has another owner' using errcode = 'unique_violation', constraint = 'tracking_domain_owner';
  end if;
  return new;
end $$;
