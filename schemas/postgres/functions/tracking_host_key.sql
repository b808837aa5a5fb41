-- A tracking host belongs to one workspace (G200). A row with `shared_from` belongs to a workspace with which the operator shares
-- the host of the row named there; the owner's row has none and is the older one.

-- Two spellings of one host have one key: case, a trailing dot and the usual ports make no difference (canonicalHost).
create or replace function tracking_host_key(host text) returns text language sql immutable parallel safe as $$
  select regexp_replace(regexp_replace(lower(host), ':(80|443)$', ''), '\.(:|$)', '\1')
$$;
