-- Leaves a tombstone of a deleted record, so that readers of the catalog remove it.
create or replace function bury_catalog_row() returns trigger language plpgsql as $$
begin
  insert into catalog_tombstone (kind, id, version)
  values (tg_argv[0], case when tg_argv[0] = 'offer_access'
                           then (to_jsonb(old) ->> 'offer_id') || '-' || (to_jsonb(old) ->> 'affiliate_id')
                           else to_jsonb(old) ->> 'id' end, next_catalog_version())
  on conflict (kind, id) do update set version = excluded.version;
  return old;
end $$;
