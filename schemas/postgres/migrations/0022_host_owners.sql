-- A tracking host belongs to one workspace (G200). A row with `shared_from` belongs to a workspace with which the operator shares
-- the host of the row named there; the owner's row has none and is the older one.

-- Two spellings of one host have one key: case, a trailing dot and the usual ports make no difference (canonicalHost).
create function tracking_host_key(host text) returns text language sql immutable parallel safe as $$
  select regexp_replace(regexp_replace(lower(host), ':(80|443)$', ''), '\.(:|$)', '\1')
$$;

alter table tracking_domain add column shared_from integer references tracking_domain;

-- Until now every workspace could list any host: the first one keeps it, and for the others it counts as shared, so that their
-- links go on working.
update tracking_domain d set shared_from = earliest.id
from (select tracking_host_key(host) as key, min(id) as id from tracking_domain group by 1) earliest
where tracking_host_key(d.host) = earliest.key and d.id <> earliest.id;

create unique index tracking_domain_owner on tracking_domain (tracking_host_key(host)) where shared_from is null;
create index tracking_domain_name on tracking_domain (split_part(tracking_host_key(host), ':', 1)) where shared_from is null;
create index tracking_domain_share on tracking_domain (shared_from) where shared_from is not null;
create index tracking_domain_group on tracking_domain (coalesce(shared_from, id));

-- Runs after the trigger `stamp`, whose lock makes catalog writes wait for each other: what it looks up cannot change any more.
-- Plans are kept while tables grow: with only index scans allowed, one made for an empty table reads no large one from end to end.
create function guard_tracking_host() returns trigger language plpgsql
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

create trigger tracking_host before insert or update of host on tracking_domain
  for each row execute function guard_tracking_host();

-- What a link names its records by.
create view link_code as
  select 'offer'::text as kind, id, workspace_id, lower(code) as code from offer where deleted_at is null
  union all
  select 'affiliate', id, workspace_id, lower(code) from affiliate
  union all
  select 'smart_link', id, workspace_id, lower(code) from smart_link;

create index offer_any_code on offer (lower(code)) where deleted_at is null;
create index affiliate_any_code on affiliate (lower(code));
create index smart_link_any_code on smart_link (lower(code));

create function share_a_host(one integer, another integer) returns boolean language sql stable as $$
  select exists (
    select from tracking_domain a
    join tracking_domain b on coalesce(b.shared_from, b.id) = coalesce(a.shared_from, a.id)
    where a.workspace_id = one and b.workspace_id = another)
$$;

-- On a shared host a code means one record. Under the lock of `stamp`, as above, so no two writers pass at once. Without any shared
-- host it costs one look into an empty index, with them one more look for the code, however many workspaces share. The error is that
-- of the table's own unique index on codes.
create function refuse_shared_code() returns trigger language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  twin record;
begin
  if not exists (select from tracking_domain where shared_from is not null) then
    return null;
  end if;
  for twin in
    select c.workspace_id from link_code c
    where c.kind = tg_table_name and c.code = lower(new.code) and c.workspace_id <> new.workspace_id
  loop
    if share_a_host(new.workspace_id, twin.workspace_id) then
      raise exception 'a workspace on the same host has this code'
        using errcode = 'unique_violation', constraint = tg_argv[0];
    end if;
  end loop;
  return null;
end $$;

do $$
declare
  kind text;
begin
  foreach kind in array array['offer', 'affiliate', 'smart_link']
  loop
    execute format('create trigger shared_code after insert on %I
      for each row execute function refuse_shared_code(%L)', kind, kind || '_code');
    execute format('create trigger shared_code_changed after update of code on %I
      for each row when (lower(new.code) <> lower(old.code)) execute function refuse_shared_code(%L)', kind, kind || '_code');
  end loop;
end $$;
