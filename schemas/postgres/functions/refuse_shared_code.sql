-- On a shared host a code means one record. Under the lock of `stamp`, as above, so no two writers pass at once. Without any shared
-- host it costs one look into an empty index, with them one more look for the code, however many workspaces share. The error is that
-- of the table's own unique index on codes.
create or replace function refuse_shared_code() returns trigger language plpgsql
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
