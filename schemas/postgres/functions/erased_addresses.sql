-- Keyed hashes of the addresses that were erased in a workspace at `since` or later.
create or replace function erased_addresses(of_workspace integer, since timestamptz) returns text[] language sql stable as $$
  select coalesce(array_agg(h), '{}') from erasure e, unnest(e.subject) h
  where e.at >= since and e.workspace_id = of_workspace and e.kind = 'ip'
$$;
