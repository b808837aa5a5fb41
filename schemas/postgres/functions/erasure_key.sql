-- As erasureKey() of schemas/erasure makes it.
create or replace function erasure_key() returns text language sql stable as $$
  select encode(sha256(convert_to('erasure ' || i.secret, 'UTF8')), 'hex') from installation i
$$;
