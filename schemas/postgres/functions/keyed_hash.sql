-- As keyedHash() of schemas/erasure makes it.
create or replace function keyed_hash(key text, value text) returns text language sql immutable strict as $$
  select encode(sha256(convert_to(key || ' ' || value, 'UTF8')), 'hex')
$$;
